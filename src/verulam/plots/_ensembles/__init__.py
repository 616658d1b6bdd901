"""Pictures of ensembles: boosting round by round, and members side by side."""
