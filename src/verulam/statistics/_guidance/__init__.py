"""Which test to use, and the size and power of each by simulation."""
