"""Verulam: decision."""
