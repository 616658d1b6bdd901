"""Metrics learned with a margin."""
