"""Solvers of the dual problem, and what they read."""
