"""Search for the nearest stored rows or objects."""
