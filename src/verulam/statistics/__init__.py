"""Verulam: statistics."""
