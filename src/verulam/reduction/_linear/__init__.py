"""Linear reductions from moments: components, factors, discriminants and correlations."""
