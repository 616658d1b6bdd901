"""Several learners on one data set: variance, joint posterior, choice."""
