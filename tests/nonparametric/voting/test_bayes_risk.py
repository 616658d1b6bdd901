"""The nearest neighbour's risk: below twice that of Bayes, which many neighbours reach."""

import numpy as np
import pytest

from verulam.nonparametric import NeighbourRisk, neighbour_risk
from verulam.nonparametric._voting.bayes_risk import nearest_neighbour_limit


def test_bounds_and_convergence():
    risk = neighbour_risk(counts=(1, 51), sizes=(500, 10_000), n_repeats=2, n_test=10_000)
    assert risk.bayes == pytest.approx(0.158655, abs=1e-6)
    assert risk.bayes < risk.limit < risk.bound < 2 * risk.bayes
    assert risk.errors[-1, 0] == pytest.approx(risk.limit, abs=0.012)
    assert risk.errors[-1, 0] < 2 * risk.bayes
    assert risk.errors[-1, 1] == pytest.approx(risk.bayes, abs=0.012)


def test_limit_by_simulation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400_000) + 1.0 * rng.integers(2, size=400_000)
    eta = 1.0 / (1.0 + np.exp(0.5 - x))
    assert nearest_neighbour_limit(1.0) == pytest.approx(np.mean(2 * eta * (1 - eta)), abs=1e-3)
    assert nearest_neighbour_limit(0.0) == pytest.approx(0.5)


def test_too_few_rows_are_marked():
    risk = neighbour_risk(counts=(1, 50), sizes=(10,), n_repeats=1, n_test=50)
    assert np.isnan(risk.errors[0, 1])
    assert risk.errors[0, 0] >= 0


def test_errors_are_by_size_and_number_of_neighbours():
    risk = neighbour_risk(counts=(1, 3, 5), sizes=(20, 40), n_repeats=1, n_test=200)
    assert isinstance(risk, NeighbourRisk)
    assert (risk.counts, risk.sizes) == ((1, 3, 5), (20, 40))
    assert risk.errors.shape == (2, 3)
    assert risk.bound == pytest.approx(2 * risk.bayes * (1 - risk.bayes))
