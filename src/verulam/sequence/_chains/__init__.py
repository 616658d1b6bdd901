"""Several chains at once: factorial, coupled, switching, variational."""
