"""The report: one HTML file with tables and pictures."""
