"""Resampling: many learners from one, by other rows, columns, settings and seeds."""
