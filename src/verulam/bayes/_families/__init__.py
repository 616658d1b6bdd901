"""Conjugate families: priors whose posteriors are of the same kind."""
