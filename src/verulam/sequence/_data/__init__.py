"""Sequences as data: checked, cut into windows, quantised."""
