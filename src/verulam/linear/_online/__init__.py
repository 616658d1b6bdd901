"""Trainers that correct their weights row by row."""
