"""Pictures of models: densities, lines, machines, trees, sequences."""
