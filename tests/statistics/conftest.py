"""What the tests of the simulator share."""

import numpy as np
import pytest

from verulam.statistics import simulate

REPEATS = 10_000


@pytest.fixture
def rate_of():
    """Return a function that gives how often a test rejects, over many simulated samples."""

    def rate(test, **design):
        simulation = simulate(test, repeats=REPEATS, random_state=1, **design)
        return simulation.table["rejection_rate"][0]

    return rate


@pytest.fixture
def near():
    """Return a function that gives a level with the room that Monte Carlo error needs."""
    return lambda level: pytest.approx(level, abs=3.3 * np.sqrt(level * (1 - level) / REPEATS))


class Replay:
    """A generator that returns given tables instead of random ones."""

    def __init__(self, *tables):
        self.tables = list(tables)

    def normal(self, *_, **__):
        return self.tables.pop(0)


@pytest.fixture
def replay():
    """Return a maker of generators that return given tables."""
    return Replay
