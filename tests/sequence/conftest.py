"""What tests of models that are multiplied out share."""

from itertools import product

import numpy as np
import pytest


@pytest.fixture
def sum_over_paths():
    """Return the log-likelihood and the posteriors by summing over every path of states."""

    def summed(initial, matrix, log_emissions):
        n_steps, n_states = log_emissions.shape
        matrix = np.broadcast_to(matrix, (n_steps, n_states, n_states))
        total, posteriors = 0.0, np.zeros((n_steps, n_states))
        for path in product(range(n_states), repeat=n_steps):
            joint = initial[path[0]] * np.exp(sum(log_emissions[t, q] for t, q in enumerate(path)))
            for t in range(1, n_steps):
                joint *= matrix[t, path[t - 1], path[t]]
            total += joint
            for t, state in enumerate(path):
                posteriors[t, state] += joint
        return np.log(total), posteriors / total

    return summed
