"""Models of models: words and sentences, hierarchies, durations, infinitely many states."""
