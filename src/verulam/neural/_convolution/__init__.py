"""Convolutional networks: maps of units that share their weights all over an image."""
