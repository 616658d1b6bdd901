"""Small solvers to read and check against: the primal program, perceptron-like duals."""
