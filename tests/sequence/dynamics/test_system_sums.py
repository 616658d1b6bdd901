"""Expected sums of a linear system: regressions by hand where states are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import UnknownNameError
from verulam.sequence import linear_system
from verulam.sequence._data.sequences import read_sequences
from verulam.sequence._dynamics.kalman import StateEstimates
from verulam.sequence._dynamics.system_sums import expected_products, start_system, updated_systems

RANDOM = np.random.default_rng(0)
STATES = RANDOM.normal(size=(30, 2))
SEEN = STATES @ RANDOM.normal(size=(2, 3)) + 1.0 + RANDOM.normal(size=(30, 3))
BEGIN = linear_system(np.eye(2) * 0.5, np.eye(2), RANDOM.normal(size=(3, 2)), np.eye(3))


def known_states(values, fixed=()):
    """Return the update where the states are known without doubt."""
    none = np.zeros((30, 2, 2))
    sequences = read_sequences(values, [12, 18])
    steps = np.zeros(30, dtype=np.int64)
    sums = expected_products(
        (BEGIN,), sequences, steps, StateEstimates(STATES, none, none, np.zeros(2))
    )
    return updated_systems((BEGIN,), sums, fixed, False, np.zeros(3))[0]


def test_known_states_give_least_squares():
    new = known_states(SEEN)
    later = np.r_[1:12, 13:30]
    move = np.linalg.lstsq(STATES[later - 1], STATES[later], rcond=None)[0].T
    assert_allclose(new.transition, move)
    residuals = STATES[later] - STATES[later - 1] @ move.T
    assert_allclose(new.state_noise, residuals.T @ residuals / len(later))
    design = np.column_stack([STATES, np.ones(30)])
    line = np.linalg.lstsq(design, SEEN, rcond=None)[0]
    assert_allclose(new.observation, line[:2].T)
    assert_allclose(new.offset, line[2])
    residuals = SEEN - design @ line
    assert_allclose(new.observation_noise, residuals.T @ residuals / 30)
    assert_allclose(new.initial_mean, STATES[[0, 12]].mean(axis=0))
    assert_allclose(new.initial_covariance, np.cov(STATES[[0, 12]].T, bias=True), atol=1e-12)


def test_fixed_parameters_stay_and_the_rest_fits_around_them():
    new = known_states(SEEN, ("observation", "transition"))
    assert_allclose(new.observation, BEGIN.observation)
    assert_allclose(new.offset, (SEEN - STATES @ BEGIN.observation.T).mean(axis=0))
    residuals = SEEN - STATES @ BEGIN.observation.T - new.offset
    assert_allclose(new.observation_noise, residuals.T @ residuals / 30)
    assert_allclose(new.transition, BEGIN.transition)
    with pytest.raises(UnknownNameError, match="transitoin"):
        known_states(SEEN, ("transitoin",))


def test_unseen_steps_teach_nothing_of_what_is_seen():
    values = SEEN.copy()
    values[20:] = np.nan
    design = np.column_stack([STATES, np.ones(30)])[:20]
    line = np.linalg.lstsq(design, SEEN[:20], rcond=None)[0]
    assert_allclose(known_states(values).offset, line[2])


def test_a_first_guess_follows_the_main_direction():
    walk = np.cumsum(RANDOM.normal(size=200))
    values = walk[:, None] * [1.0, 2.0] + 0.01 * RANDOM.normal(size=(200, 2))
    guess = start_system(values, np.array([0, 200]), 1)
    assert_allclose(guess.observation[1] / guess.observation[0], 2.0, rtol=0.01)
    assert 0.8 < guess.transition[0, 0] < 1.0
