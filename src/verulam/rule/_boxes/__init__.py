"""One class as a box."""
