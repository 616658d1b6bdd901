"""Rules read off trees, and made simpler."""
