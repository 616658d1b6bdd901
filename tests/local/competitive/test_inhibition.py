"""Winners at once and by lateral inhibition; local and distributed codes."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.local import (
    Inhibition,
    RegionCodes,
    Winners,
    distributed_codes,
    lateral_inhibition,
    local_codes,
    winner_take_all,
)


@pytest.fixture(scope="module")
def layer():
    rng = np.random.default_rng(0)
    units = rng.normal(size=(6, 3))
    return rng.normal(size=(40, 3)), units / np.linalg.norm(units, axis=1, keepdims=True)


def test_products_and_distances_agree_where_units_have_one_length(layer):
    X, units = layer
    by_product = winner_take_all(X, units)
    by_distance = winner_take_all(X, units, similarity="distance")
    assert isinstance(by_product, Winners)
    np.testing.assert_array_equal(by_product.winners, by_distance.winners)
    np.testing.assert_allclose(by_product.values, X @ units.T)
    np.testing.assert_array_equal(by_product.outputs.sum(axis=1), 1.0)
    longer = units * np.arange(1, 7)[:, None]
    assert (winner_take_all(X, longer).winners != by_product.winners).any()


def test_inhibition_leaves_the_largest_of_different_values(layer):
    X, units = layer
    answer = winner_take_all(X, units)
    for values, output in zip(answer.values, answer.outputs, strict=True):
        dynamics = lateral_inhibition(values)
        assert isinstance(dynamics, Inhibition)
        assert dynamics.converged
        np.testing.assert_array_equal(dynamics.states[-1], output)
        # Inhibition equals the argmin of distances, too: all units have length one.
        assert dynamics.winner == output.argmax()


def test_a_step_is_excitation_less_inhibition():
    states = lateral_inhibition([1.0, 0.5, 0.25], inhibition=0.1).states
    np.testing.assert_allclose(states[1], [1 - 0.075, 0.5 - 0.125, 0.25 - 0.15])


def test_near_values_take_more_steps_and_still_settle():
    slow = lateral_inhibition([1.0, 1.0 - 1e-9])
    assert slow.winner == 0
    assert len(slow.states) > len(lateral_inhibition([1.0, 0.5]).states)


def test_equal_values_leave_no_single_winner():
    dynamics = lateral_inhibition([1.0, 1.0], max_iter=50)
    assert not dynamics.converged
    assert dynamics.winner == -1


def test_values_below_zero_and_one_unit():
    assert lateral_inhibition([-3.0, -1.0, -2.0]).winner == 1
    assert lateral_inhibition([2.0]).winner == 0


def test_hard_local_codes_have_one_active_unit_and_as_many_regions_as_units():
    side = np.linspace(-2.0, 2.0, 41)
    X = np.array([[a, b] for a in side for b in side])
    centres = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.5]])
    local = local_codes(X, centres, hard=True)
    assert isinstance(local, RegionCodes)
    assert local.n_regions == 3
    assert (local.active == 1).all()
    answer = winner_take_all(X, centres, similarity="distance")
    np.testing.assert_array_equal(answer.winners, local.codes.argmax(axis=1))
    np.testing.assert_allclose(
        answer.values, np.linalg.norm(X[:, None] - centres, axis=2), atol=1e-12
    )
    # Units of one length: the largest product is that of the nearest.
    units = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    largest = winner_take_all(X, units, similarity="product")
    np.testing.assert_allclose(largest.values, X @ units.T)
    np.testing.assert_array_equal(largest.outputs.argmax(axis=1), largest.winners)
    nearest = local_codes(X, units, hard=True)
    tied = np.sort(X @ units.T, axis=1)[:, -1] - np.sort(X @ units.T, axis=1)[:, -2] < 1e-9
    np.testing.assert_array_equal(largest.winners[~tied], nearest.codes.argmax(axis=1)[~tied])
    planes = np.array([[0.1, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 1.0, -1.0]])
    spread = distributed_codes(X, planes, hard=True)
    # Three lines in general position cut the plane into seven regions.
    assert spread.n_regions == 7
    assert spread.active.max() == 3
    for hard in (local, spread):
        assert np.unique(hard.codes).tolist() == [0.0, 1.0]


def test_soft_codes_are_bells_and_sigmoids():
    X = np.array([[0.0], [2.0], [3.0]])
    soft = local_codes(X, [[0.0]], spread=1.0).codes[:, 0]
    np.testing.assert_allclose(soft, [1.0, np.exp(-2.0), np.exp(-4.5)])
    code = distributed_codes([[0.0], [1.0]], [[0.0, 2.0]]).codes[:, 0]
    np.testing.assert_allclose(code, [0.5, 1.0 / (1.0 + np.exp(-2.0))])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: winner_take_all([[1.0, 2.0]], [[1.0]]), "X has 2 columns and units has 1"),
        (lambda: winner_take_all([[1.0]], [[1.0]], similarity="cosine"), "similarity='cosine'"),
        (lambda: winner_take_all("abc", [[1.0]]), "X: expected a table of finite numbers"),
        (lambda: winner_take_all([[np.nan]], [[1.0]]), "X: expected a table of finite numbers"),
        (lambda: lateral_inhibition("abc"), "values: expected a list of finite numbers"),
        (lambda: lateral_inhibition([]), "values: expected a list of finite numbers"),
        (lambda: lateral_inhibition([1.0, 2.0, 3.0], inhibition=0.5), "inhibition=0.5; .* below"),
        (lambda: lateral_inhibition([1.0, 2.0], max_iter=0), "max_iter=0"),
        (lambda: local_codes([[1.0]], [[1.0]], spread=0.0), "spread=0.0"),
        (lambda: local_codes([[1.0]], [[1.0, 2.0]]), "X has 1 columns and centers has 2"),
        (lambda: distributed_codes([[1.0]], [[1.0]]), "planes has 1 columns; expected 2"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
