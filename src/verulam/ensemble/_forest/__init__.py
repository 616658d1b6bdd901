"""Random forests: trees of coded columns, each on other rows and with few columns a node."""
