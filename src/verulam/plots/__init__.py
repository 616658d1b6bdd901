"""Verulam: plots."""
