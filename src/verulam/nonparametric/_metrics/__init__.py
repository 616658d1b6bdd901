"""Distances that are learned, for all columns or around a query."""
