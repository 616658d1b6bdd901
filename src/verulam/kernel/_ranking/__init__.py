"""Ranking machines, with kernels and linear."""
