"""Readers of CSV, ARFF and NPZ files, whole or in chunks."""
