"""A grown tree as arrays, and tables as codes."""
