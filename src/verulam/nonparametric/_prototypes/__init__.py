"""Classifiers that keep some of their rows: condensing, editing, centres."""
