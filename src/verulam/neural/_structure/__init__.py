"""Networks whose structure is found: units added and weights taken away."""
