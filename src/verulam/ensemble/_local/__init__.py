"""Local ensembles: which member answers depends on the row."""
