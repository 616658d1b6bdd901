"""Gaussian processes: priors over functions that a kernel describes."""
