"""Evidence: how well a model with its prior foretold the data, and what follows from it."""
