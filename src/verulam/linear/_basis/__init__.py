"""Basis expansions, in which a discriminant is linear."""
