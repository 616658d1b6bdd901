"""Multilayer perceptrons for classes and for numbers."""
