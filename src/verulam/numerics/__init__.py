"""Verulam: numerics."""
