"""Verulam: testing."""
