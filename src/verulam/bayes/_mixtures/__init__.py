"""Mixtures: priors on components, mean-field approximations, Dirichlet processes, experts."""
