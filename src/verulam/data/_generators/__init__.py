"""Generators of data whose truth is known, and noise."""
