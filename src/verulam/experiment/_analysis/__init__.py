"""From scores to tests and an answer."""
