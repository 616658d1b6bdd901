"""Pictures of studies, comparisons and tests."""
