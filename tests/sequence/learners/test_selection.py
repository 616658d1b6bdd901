"""The number of states: curves peak near the truth; states of two fits are matched."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import (
    Alignment,
    HiddenMarkovModel,
    RegressionEmission,
    StateCurve,
    add_states,
    align_states,
    select_states,
)
from verulam.sequence._data.sequences import read_sequences
from verulam.sequence._learners.selection import split_sequences

RANDOM = np.random.default_rng(1)
X = [
    np.repeat(RANDOM.choice([0.0, 4.0, 8.0], size=6), 10) + RANDOM.normal(size=60)
    for _ in range(12)
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("criterion", ["validation", "bic", "aic"])
def test_true_number_is_chosen(criterion):
    model = HiddenMarkovModel(n_init=2, max_iter=50)
    curve = select_states(model, X, [1, 2, 3, 4], criterion=criterion, random_state=0)
    assert curve.best_n_states in ((3,) if criterion == "bic" else (3, 4))
    values = np.array(getattr(curve, criterion)) * (1 if criterion == "validation" else -1)
    assert values[2] > values[1] > values[0]
    assert list(curve.training) == sorted(curve.training)
    assert curve.best.n_states_ == curve.best_n_states
    assert list(curve.to_frame().index) == [1, 2, 3, 4]


def test_held_out_sequences_are_not_learned_from():
    model = HiddenMarkovModel(max_iter=20)
    curve = select_states(model, X, [1, 2], validation=0.25, random_state=5)
    train, held_out = split_sequences(read_sequences(X), 0.25, np.random.default_rng(5))
    assert (len(train.values), len(held_out.values)) == (9, 3)
    for place, fitted in enumerate(curve.models):
        assert fitted.n_steps_ == 9 * 60
        assert_allclose(curve.training[place], fitted.score(train.values) / (9 * 60))
        assert_allclose(curve.validation[place], fitted.score(held_out.values) / (3 * 60))
        assert_allclose(curve.bic[place], fitted.bic(train.values))
    assert curve.best_n_states == curve.n_states[np.argmax(curve.validation)]


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_criteria_need_nothing_held_out(criterion):
    model = HiddenMarkovModel(max_iter=20)
    curve = select_states(model, X, [1, 2], criterion=criterion, random_state=0)
    assert np.isnan(curve.validation).all()
    for place, fitted in enumerate(curve.models):
        again = HiddenMarkovModel(**fitted.get_params()).fit(X)
        assert_allclose(curve.bic[place], again.bic(X))
        assert_allclose(curve.aic[place], again.aic(X))
        assert_allclose(curve.training[place], again.score(X) / (12 * 60))
    single = select_states(model, X[0], [2], criterion=criterion, random_state=0)
    assert_allclose(getattr(single, criterion)[0], getattr(single.best, criterion)(X[0]))
    assert single.best.n_steps_ == 60


def test_states_are_added_while_it_helps():
    curve = add_states(HiddenMarkovModel(1, max_iter=60), X, most=6, random_state=0)
    assert 3 <= curve.best_n_states <= 5
    assert curve.validation[curve.n_states.index(curve.best_n_states)] == max(curve.validation)
    assert curve.n_states[:3] == (1, 2, 3)


def test_a_single_sequence_is_cut():
    train, held_out = split_sequences(
        read_sequences(np.arange(10.0)), 0.3, np.random.default_rng(0)
    )
    assert len(train.values[0]) == 7
    assert len(held_out.values[0]) == 3
    with pytest.raises(DataError, match="too short"):
        split_sequences(read_sequences([1.0]), 0.3, np.random.default_rng(0))


def test_unknown_criterion():
    with pytest.raises(DataError, match="criterion is 'mdl'"):
        select_states(HiddenMarkovModel(), X, [1], criterion="mdl")


def test_inputs_go_with_their_sequences():
    random = np.random.default_rng(0)
    inputs = [random.normal(size=(40, 1)) for _ in range(8)]
    slopes = np.repeat([2.0, -2.0], 20)
    X = [slopes * x[:, 0] + 0.1 * random.normal(size=40) for x in inputs]
    model = HiddenMarkovModel(emission=RegressionEmission(), n_init=3)
    curve = select_states(model, X, [1, 2], inputs=inputs, random_state=0)
    assert curve.best_n_states == 2
    grown = add_states(model.set_params(n_states=1), X, most=2, inputs=inputs, random_state=0)
    assert grown.validation[1] > grown.validation[0]


@pytest.mark.parametrize("criterion", ["validation", "bic"])
def test_names_of_columns_are_kept(criterion):
    tables = [pd.DataFrame({"level": part}) for part in X[:4]]
    model = HiddenMarkovModel(max_iter=5)
    best = select_states(model, tables, [1, 2], criterion=criterion, random_state=0).best
    assert best.feature_names_in_.tolist() == ["level"]
    same = select_states(model, X[:4], [1, 2], criterion=criterion, random_state=0).best
    assert_allclose(best.emission_.means, same.emission_.means)
    grown = add_states(HiddenMarkovModel(1, max_iter=5), tables[0], most=2, random_state=0)
    assert grown.best.feature_names_in_.tolist() == ["level"]


def test_nothing_to_choose_from():
    with pytest.raises(DataError, match="n_states is empty"):
        select_states(HiddenMarkovModel(), X, [])
    with pytest.raises(DataError, match="validation is"):
        select_states(HiddenMarkovModel(), X, [1], validation=1.5)


def test_renamed_states_agree():
    random = np.random.default_rng(0)
    states = random.integers(4, size=200)
    names = np.array([2, 0, 3, 1])
    alignment = align_states(states, names[states])
    assert alignment.agreement == 1.0
    assert_array_equal(alignment.order, names)
    assert_array_equal(alignment.rename(names[states]), states)


def test_best_of_all_renamings():
    alignment = align_states([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    assert alignment.agreement == 0.8


def test_paths_must_cover_the_same_steps():
    with pytest.raises(DataError, match="same steps"):
        align_states([0, 1], [0])


def test_an_alignment_renames_the_second_path():
    alignment = Alignment(np.array([2, 0, 1]), 1.0)
    assert_array_equal(alignment.rename([2, 2, 0, 1]), [0, 0, 1, 2])


def test_a_curve_knows_its_best_model():
    models = tuple(HiddenMarkovModel(count) for count in (1, 2))
    curve = StateCurve((1, 2), (-2.0, -1.0), (-2.5, -3.0), (9.0, 8.0), (7.0, 6.0), models, "bic", 2)
    assert curve.best is models[1]
    assert curve.to_frame().loc[2].tolist() == [-1.0, -3.0, 8.0, 6.0]
