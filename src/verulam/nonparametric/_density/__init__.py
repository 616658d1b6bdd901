"""Densities: windows, histograms, nearest neighbours, and how wide to make them."""
