"""Pictures of beliefs: densities before and after data, bands of predictions, evidence."""
