"""Bayesian classification: densities with a prior, and linear functions by Laplace's method."""
