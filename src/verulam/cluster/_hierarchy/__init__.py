"""Hierarchies: clusters within clusters, built by merging or by splitting."""
