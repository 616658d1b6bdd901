"""Radial basis functions: local units, networks of them, and the rules that they stand for."""
