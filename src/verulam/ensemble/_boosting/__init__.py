"""Boosting: each member is taught by the mistakes of those before it."""
