"""Subsets of columns by search, with scores that add over columns where a learner has them."""
