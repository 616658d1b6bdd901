"""Logistic discrimination and generalised linear models."""
