"""Fusion: rules that combine outputs, their scales, and what theory says of the combination."""
