"""Two learners on one data set."""
