"""Experts and gates: local linear models, trees of them, and models made for one query."""
