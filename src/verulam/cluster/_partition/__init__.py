"""Partitions: a number of clusters, each around a mean or around one of the rows."""
