"""Chains of draws from a posterior: how they are made, and whether they have settled."""
