"""What is put between a table and a learner: looking at columns, encoding, reducing."""
