"""Classifiers made of windows: Parzen, probabilistic and Coulomb networks."""
