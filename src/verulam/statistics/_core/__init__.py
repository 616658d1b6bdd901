"""The record of a test, checks, distributions, adjustments and intervals that all tests share."""
