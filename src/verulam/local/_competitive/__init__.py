"""Units that compete for rows: online k-means, resonance, Hebbian rules, inhibition."""
