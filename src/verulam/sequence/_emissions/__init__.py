"""What a state shows: symbols, numbers, counts, mixtures, regressions."""
