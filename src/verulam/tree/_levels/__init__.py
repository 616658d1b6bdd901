"""Growing level by level: the quick way, for tables of numbers without gaps or weights."""
