"""Bayesian regression: weights with a prior, predictions with an error bar."""
