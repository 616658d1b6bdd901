"""Voting: fixed and estimated weights, and the single learner that ensembles must beat."""
