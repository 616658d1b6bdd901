"""Undirected models: Markov random fields, factor graphs, grids of pixels, constraints."""
