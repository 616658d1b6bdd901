"""Linear ranking from groups, orders and clicks."""
