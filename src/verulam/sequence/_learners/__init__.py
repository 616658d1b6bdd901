"""Learners of sequences, and what they answer."""
