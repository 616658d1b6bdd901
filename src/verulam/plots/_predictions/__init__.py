"""Pictures of what a classifier predicts: confusion, thresholds, regions."""
