"""Several lines at once: many classes, layers of units."""
