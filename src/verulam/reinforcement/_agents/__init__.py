"""Agents: what acts and learns, by tables, functions or models, and how it is trained."""
