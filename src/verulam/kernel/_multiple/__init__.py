"""Several kernels at once: their weights, local and localised."""
