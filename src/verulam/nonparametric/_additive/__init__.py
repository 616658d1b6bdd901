"""Smoothing splines and additive models."""
