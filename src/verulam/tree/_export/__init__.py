"""Trees as text, DOT and Python code."""
