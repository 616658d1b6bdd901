"""What the tests of the simulator share."""

import numpy as np
import pytest

from verulam.statistics import simulate

REPEATS = 10_000


@pytest.fixture
def confirm():
    """Return a check that a test rejects as often as it must, up to Monte Carlo error."""

    def check(test, level, **design):
        rate = simulate(test, repeats=REPEATS, random_state=1, **design).table["rejection_rate"][0]
        assert rate == pytest.approx(level, abs=3.3 * np.sqrt(level * (1 - level) / REPEATS))

    return check


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
