"""Views and clusterings: several representations of the same rows, or several partitions."""
