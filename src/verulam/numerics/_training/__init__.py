"""Training by gradient: rules for a step, the loop over epochs, and its record."""
