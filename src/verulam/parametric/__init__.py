"""Verulam: parametric."""
