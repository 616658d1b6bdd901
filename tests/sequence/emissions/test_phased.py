"""Emissions that vary with time: every path summed, one phase, a season learned."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    PhasedEmission,
)

MATRIX = np.array([[0.8, 0.2], [0.3, 0.7]])
FIRST = np.array([0.6, 0.4])


def test_every_step_may_have_its_own_emissions(sum_over_paths):
    random = np.random.default_rng(0)
    tables = random.dirichlet(np.ones(3), (2, 5))
    emission = PhasedEmission(CategoricalEmission(probabilities=tables.reshape(10, 3)), 5)
    model = HiddenMarkovModel.from_parameters(FIRST, MATRIX, emission)
    symbols, steps = np.array([0, 2, 1, 1, 0]), np.arange(5)
    logs = np.log(tables[:, steps, symbols].T)
    log_likelihood, posteriors = sum_over_paths(FIRST, MATRIX, logs)
    assert_allclose(model.score(symbols, inputs=steps), log_likelihood)
    assert_allclose(model.predict_proba(symbols, inputs=steps), posteriors)
    drawn = model.sample(5, 2000, inputs=steps, random_state=0)
    shown = np.array([rows.ravel() for rows in drawn.observations])
    expected = sum(FIRST[i] * tables[i, 0, 0] for i in range(2))
    assert_allclose((shown[:, 0] == 0).mean(), expected, atol=0.04)


def test_one_phase_is_a_plain_model():
    series = np.repeat([0.0, 4.0, 0.0], 15) + np.random.default_rng(0).normal(size=45)
    start = GaussianEmission(means=[[0.0], [3.0]], covariances=[[1.0], [1.0]])
    plain = HiddenMarkovModel(2, start).fit(series)
    phased = HiddenMarkovModel(2, PhasedEmission(start, 1)).fit(series, inputs=np.zeros(45))
    assert_allclose(phased.objective_curve_, plain.objective_curve_)


def test_a_season_is_learned():
    random = np.random.default_rng(1)
    phases = np.tile([0, 1, 2], 80)
    states = np.repeat([0, 1, 0, 1], 60)
    means = np.array([[0.0, 10.0, 20.0], [3.0, 14.0, 25.0]])
    series = means[states, phases] + 0.5 * random.normal(size=240)
    emission = PhasedEmission(GaussianEmission(), 3)
    model = HiddenMarkovModel(2, emission, random_state=0).fit(series, inputs=phases)
    learned = model.emission_.means.reshape(2, 3)
    order = np.argsort(learned[:, 0])
    assert_allclose(learned[order], means, atol=0.4)
    assert np.diff(model.objective_curve_).min() > -1e-8
    assert model.model_.parts.emission.n_states(model.emission_) == 2


def test_bad_input():
    emission = PhasedEmission(GaussianEmission(), 2)
    with pytest.raises(DataError, match="PhasedEmission needs inputs"):
        HiddenMarkovModel(1, emission).fit(np.arange(4.0))
    with pytest.raises(
        DataError, match="the phase 2 at step 3; expected whole numbers from 0 to 1"
    ):
        HiddenMarkovModel(1, emission).fit(np.arange(4.0), inputs=[0, 1, 0, 2])


def test_the_column_of_the_phases_must_be_there():
    with pytest.raises(DataError, match="n_phases of PhasedEmission must be a whole number"):
        PhasedEmission(GaussianEmission(), 0)
    model = HiddenMarkovModel(1, PhasedEmission(GaussianEmission(), 2, column=1))
    with pytest.raises(DataError, match="column is 1, counted from 0, but inputs has 1"):
        model.fit(np.arange(4.0), inputs=[0, 1, 0, 1])
