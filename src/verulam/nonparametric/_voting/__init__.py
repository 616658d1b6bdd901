"""Classification by the votes of neighbours."""
