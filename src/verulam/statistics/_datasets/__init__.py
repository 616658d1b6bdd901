"""Learners over many data sets."""
