"""Nodes that test several columns, and the trees that are grown of them."""
