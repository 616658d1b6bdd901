"""Reduced Coulomb energy: no disc holds a stranger; class, conflict or nothing."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from verulam.nonparametric import CoulombAnswers, CoulombStage, ReducedCoulombEnergy
from verulam.nonparametric._window_classifiers.probabilistic_network import unit_rows

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=120)
X = RNG.normal(size=(120, 2)) + 2.0 * np.eye(3)[Y, :2]


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("max_radius", [None, 0.3])
def test_no_disc_holds_a_pattern_of_another_class(normalise, max_radius):
    network = ReducedCoulombEnergy(max_radius=max_radius, normalise=normalise).fit(X, Y)
    inside = cdist(network.centres_, network.centres_) < network.radii_
    assert not (inside & (Y[:, None] != Y)).any()
    assert network.radii_.max() <= (np.inf if max_radius is None else max_radius)
    assert network.score(X, Y) == 1.0


def test_radii_by_the_formula():
    network = ReducedCoulombEnergy(max_radius=0.4, margin=0.05).fit(X, Y)
    table = np.where(Y[:, None] != Y, cdist(X, X), np.inf).min(axis=1)
    assert_allclose(network.radii_, np.clip(table - 0.05, 0.0, 0.4))


def test_presenting_one_by_one_is_the_same():
    whole = ReducedCoulombEnergy(max_radius=1.0).fit(X, Y)
    stages = list(ReducedCoulombEnergy(max_radius=1.0).stages(X, Y))
    assert [len(stage.radii) for stage in stages] == list(range(1, 121))
    assert_allclose(stages[-1].radii, whole.radii_)
    assert stages[0].radii[0] == 1.0
    for before, after in pairwise(stages):
        assert np.all(after.radii[:-1] <= before.radii)


def test_three_outcomes():
    network = ReducedCoulombEnergy(max_radius=1.5, margin=0.0).fit([[0.0], [2.0]], ["a", "b"])
    answers = network.answers([[0.3], [1.0], [9.0]])
    assert answers.outcomes.tolist() == ["class", "ambiguous", "uncovered"]
    assert_array_equal(answers.covering, [[True, False], [True, True], [False, False]])
    assert network.predict([[0.3], [1.2], [9.0]]).tolist() == ["a", "b", "b"]


def test_directions_can_be_what_is_compared():
    network = ReducedCoulombEnergy(normalise=True).fit(X, Y)
    assert_allclose(network.centres_, unit_rows(X))
    assert_array_equal(network.predict(X * 7.0), network.predict(X))


def test_conflicting_copies_cover_nothing():
    network = ReducedCoulombEnergy().fit([[0.0], [0.0], [5.0]], [0, 1, 1])
    assert_allclose(network.radii_[:2], 0.0)
    assert network.answers([[0.0]]).outcomes[0] == "uncovered"


def test_one_class_covers_everything():
    network = ReducedCoulombEnergy().fit(X, np.zeros(120))
    assert set(network.answers(X * 100).outcomes) == {"class"}


def test_new_classes_must_be_announced():
    network = ReducedCoulombEnergy().fit(X[Y < 2], Y[Y < 2])
    with pytest.raises(ValueError, match="not named in the first partial_fit"):
        network.partial_fit(X[Y == 2], Y[Y == 2])


def test_records_of_answers_and_stages():
    network = ReducedCoulombEnergy(max_radius=2.0).fit([[0.0], [3.0]], ["a", "b"])
    answers = network.answers([[0.5], [1.5], [9.0]])
    assert isinstance(answers, CoulombAnswers)
    assert_array_equal(answers.covering, [[True, False], [True, True], [False, False]])
    first, second = network.stages([[0.0], [3.0]], ["a", "b"])
    assert isinstance(first, CoulombStage)
    # Alone, a pattern's disc has the largest radius; a stranger at 3 leaves it as it is.
    assert_allclose(first.radii, [2.0])
    assert_allclose(second.centres, [[0.0], [3.0]])
    assert_array_equal(second.codes, [0, 1])
