"""Partial observability: beliefs, exact and approximate values over them, and files."""
