"""Mixtures of Gaussians: a density that is a sum of densities, one for each group."""
