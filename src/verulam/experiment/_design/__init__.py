"""Which settings of factors are run."""
