"""A table of runs, visible before anything runs."""
