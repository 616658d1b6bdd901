"""One learner: against a value, power, sampling, the bootstrap error."""
