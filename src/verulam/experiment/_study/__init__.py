"""What is asked: a study, its data, learners, options and files."""
