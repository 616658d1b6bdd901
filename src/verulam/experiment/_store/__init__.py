"""Facts on disk: runs, predictions, scores, and how they are read back."""
