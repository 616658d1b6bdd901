"""A network as one vector of parameters: layout, forward pass, gradient, objective."""
