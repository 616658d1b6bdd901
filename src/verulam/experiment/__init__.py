"""Verulam: experiment."""
