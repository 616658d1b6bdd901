"""Small problems with known answers, shared by the tests of the trainers."""

import numpy as np

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, OR, XOR = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0])


def separable(n_rows=60, n_columns=3, gap=1.0, seed=0):
    """Rows on both sides of a random plane, none nearer than half the gap."""
    random = np.random.default_rng(seed)
    direction = random.normal(size=n_columns)
    direction /= np.linalg.norm(direction)
    rows = random.normal(size=(n_rows, n_columns))
    positive = rows @ direction > 0
    rows += np.where(positive, gap / 2, -gap / 2)[:, None] * direction
    return rows, positive.astype(int)


def overlapping(n_rows=200, n_columns=3, seed=0):
    """Two Gaussian classes that no plane separates."""
    random = np.random.default_rng(seed)
    classes = np.arange(n_rows) % 2
    return random.normal(size=(n_rows, n_columns)) + classes[:, None] * 0.7, classes
