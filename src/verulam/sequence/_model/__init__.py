"""A hidden Markov model as a value: emissions, transitions, inference, expectations."""
