"""Answers to questions: exact by sums and messages, or approximate."""
