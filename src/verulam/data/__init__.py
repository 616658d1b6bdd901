"""Verulam: data."""
