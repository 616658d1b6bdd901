"""Every learner in the textbook, and the experiments to choose between them."""
