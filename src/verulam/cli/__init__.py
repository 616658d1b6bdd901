"""Verulam: cli."""
