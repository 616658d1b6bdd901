"""Every learner by name."""
