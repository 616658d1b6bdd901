"""Verulam: measures."""
