"""Nodes to learn tests from."""

import numpy as np
import pytest

from verulam.tree._nodes.problem import CRITERIA, NodeOptions, NodeProblem


@pytest.fixture
def make():
    """Return a function that makes the problem of a node of rows that weigh alike."""

    def make_problem(inputs, codes, *, criterion="entropy", **changes):
        options = {
            "min_rows": 1,
            "grouping": "exchange",
            "max_inputs": 9,
            "hidden_units": 4,
            "n_init": 4,
            "n_jumps": 5,
            **changes,
        }
        return NodeProblem(
            np.asarray(inputs, dtype=float),
            np.asarray(codes, dtype=np.int64),
            np.ones(len(codes)),
            int(np.max(codes)) + 1,
            NodeOptions(CRITERIA[criterion], **options),
            np.random.default_rng(0),
        )

    return make_problem
