"""What factors, data sets and columns do to the response."""
