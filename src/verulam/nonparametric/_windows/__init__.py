"""Window functions and their sums over stored points."""
