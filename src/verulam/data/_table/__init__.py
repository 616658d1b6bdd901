"""Columns of a table: kinds, hints, one form for each, and a hash of all."""
