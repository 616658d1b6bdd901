"""How learners are tuned within the training rows."""
