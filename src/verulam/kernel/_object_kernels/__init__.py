"""Kernels of strings, documents, bags, trees, graphs and sequences."""
