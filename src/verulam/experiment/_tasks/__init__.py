"""Tasks beyond prediction: what their data and contestants are; environments by name."""
