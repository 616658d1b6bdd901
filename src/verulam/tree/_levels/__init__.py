"""Growing level by level: the quick way, for whole rows of numbers, gaps and weights included."""
