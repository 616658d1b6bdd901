"""Mercer kernels of rows of numbers, their algebra, and Gram matrices."""
