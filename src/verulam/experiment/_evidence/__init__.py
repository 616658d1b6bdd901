"""What the stored runs tell of all contestants together."""
