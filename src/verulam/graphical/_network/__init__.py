"""Bayesian networks: conditional tables on a directed graph."""
