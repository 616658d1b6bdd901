"""Ours and the best peer on the same work, side by side in one run."""
