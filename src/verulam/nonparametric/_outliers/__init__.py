"""Outliers and one-class detectors."""
