"""Carrying out a plan: processes, Dask, repeats until settled."""
