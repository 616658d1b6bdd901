"""Hidden Markov models: what is said of odd and bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from verulam.base import DataError, DataWarning
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    LogisticTransitions,
    RegressionEmission,
    TransitionMatrix,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
STATES = [np.repeat(RANDOM.integers(3, size=6), 8) for _ in range(10)]
NUMBERS = [2.0 * path[:, None] + RANDOM.normal(size=(len(path), 2)) for path in STATES]
INPUTS = [RANDOM.normal(size=(len(path), 1)) for path in STATES]


FAR = GaussianEmission(means=[[0.0], [0.5], [1e6]], covariances=[[1.0]] * 3)


def test_states_without_data_are_kept_reset_or_removed():
    X = np.random.default_rng(0).normal(size=100)
    with pytest.warns(DataWarning, match=r"kept as they were: \[2\]"):
        unchanged = HiddenMarkovModel(3, FAR, random_state=0).fit(X)
    assert unchanged.emission_.means[2, 0] == 1e6
    with pytest.warns(DataWarning, match="State 2 had no data and was reset"):
        reset = HiddenMarkovModel(3, FAR, empty_states="reset", random_state=0).fit(X)
    assert abs(reset.emission_.means[2, 0]) < 10
    with pytest.warns(DataWarning, match=r"were removed: \[2\]"):
        removed = HiddenMarkovModel(3, FAR, empty_states="remove", random_state=0).fit(X)
    assert removed.n_states_ == 2
    assert removed.predict(X).max() == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_reset_in_the_last_pass_leaves_no_curve():
    X = np.random.default_rng(0).normal(size=100)
    model = HiddenMarkovModel(3, FAR, empty_states="reset", max_iter=1, random_state=0)
    with pytest.warns(DataWarning, match="State 2 had no data and was reset") as notes:
        model.fit(X)
    assert not any("kept as they were" in str(note.message) for note in notes)
    assert (model.objective_curve_, model.n_iter_, model.converged_) == ([], 0, False)
    assert abs(model.emission_.means[2, 0]) < 10


def test_impossible_observations_are_explained():
    model = HiddenMarkovModel.from_parameters(
        [1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], CategoricalEmission(probabilities=[[1, 0], [0, 1]])
    )
    with pytest.warns(DataWarning, match="Sequence 1 .* impossible .* from step 2 on"):
        scores = model.score_sequences([[0, 0, 1], [0, 1, 0]])
    assert_allclose(scores, [2 * np.log(0.5), -np.inf])
    for method in (model.predict, model.predict_proba, model.filter, model.sample_states):
        with pytest.raises(DataError, match="impossible"):
            method([[0, 1, 0]])
    with pytest.raises(DataError, match="impossible at this step"):
        model.online().update(1)
    learner = HiddenMarkovModel(
        2,
        CategoricalEmission(probabilities=[[1, 0], [0, 1]]),
        transitions=TransitionMatrix("left-to-right"),
    )
    with pytest.raises(DataError, match="Allow more transitions"):
        learner.fit([[0, 1, 0]])


def test_singular_covariances_are_raised():
    rows = np.repeat(np.concatenate(NUMBERS)[:, :1], 2, axis=1)
    with pytest.warns(DataWarning, match="covariance became singular"):
        model = HiddenMarkovModel(2, GaussianEmission("full"), random_state=0, max_iter=500).fit(
            rows
        )
    assert np.isfinite(model.score(rows))


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([], {}, "no sequences"),
        ([[1.0, 2.0], []], {}, r"Sequence 1 .* has no steps"),
        ([1.0, 2.0], {"lengths": [1, 2]}, "lengths add up to 3, but X has 2 steps"),
        ([1.0, 2.0], {"lengths": [3, -1]}, "none of them negative"),
        ([[1.0], [2.0]], {"lengths": [1, 1]}, "list of sequences already"),
        ([np.zeros((2, 1)), np.zeros((2, 3))], {}, "Sequence 1 .* has 3 columns"),
        (np.full((5, 1), np.nan), {}, "Column 0 of X has no value"),
        (np.zeros((2, 2, 2)), {}, "3 dimensions"),
        ([[0.0, np.inf]], {}, "infinity"),
    ],
)
def test_bad_sequences(X, options, message):
    with pytest.raises(ValueError, match=message):
        HiddenMarkovModel(1).fit(X, **options)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0, -1, 2], "negative symbol -1 at step 1"),
        ([0.5, 1.0], "fractions"),
        (np.zeros((3, 2), dtype=int), "one symbol per step"),
    ],
)
def test_bad_symbols(X, message):
    with pytest.raises(DataError, match=message):
        HiddenMarkovModel(1, CategoricalEmission()).fit(X)


def test_unknown_symbols():
    numbers = HiddenMarkovModel(1, CategoricalEmission()).fit([0, 1, 1])
    with pytest.raises(DataError, match="symbol 2 at step 1, which was not in the training"):
        numbers.score([0, 2])
    words = HiddenMarkovModel(1, CategoricalEmission()).fit(["a", "b", "a"])
    with pytest.raises(DataError, match="unknown symbol 'c' at step 0"):
        words.score(["c"])
    with pytest.raises(DataError, match="give the alphabet"):
        HiddenMarkovModel(1, CategoricalEmission()).fit(lambda: iter([[["a"], ["b"]]]))


def test_short_and_missing_sequences_are_fine():
    model = HiddenMarkovModel(2, random_state=0).fit([[0.0], [5.0], [0.1, 5.1], [np.nan, np.nan]])
    assert_allclose(model.score([[np.nan, np.nan]]), 0.0, atol=1e-12)
    assert len(model.predict([[0.0]])[0]) == 1


def test_inputs_must_be_there_and_fit():
    with pytest.raises(DataError, match="needs inputs"):
        HiddenMarkovModel(2, RegressionEmission()).fit(NUMBERS)
    with pytest.raises(DataError, match="needs inputs"):
        HiddenMarkovModel(2, transitions=LogisticTransitions()).fit(NUMBERS)
    with pytest.raises(DataError, match="inputs has 2 steps and X has 3"):
        HiddenMarkovModel(2, RegressionEmission()).fit([1.0, 2.0, 3.0], inputs=[1.0, 2.0])


def test_rows_on_dask_do_not_say_where_sequences_begin():
    import dask.array

    with pytest.raises(DataError, match="where sequences begin"):
        HiddenMarkovModel(2).fit(dask.array.zeros((10, 2)))


def test_wrong_values_are_named():
    with pytest.raises(DataError, match="means of GaussianEmission has shape"):
        HiddenMarkovModel(2, GaussianEmission(means=[[0.0]])).fit(NUMBERS)
    with pytest.raises(DataError, match="fixed of GaussianEmission names"):
        HiddenMarkovModel(2, GaussianEmission(fixed=("mean",))).fit(NUMBERS)
    with pytest.raises(DataError, match="covariance is 'round'"):
        HiddenMarkovModel(2, GaussianEmission("round")).fit(NUMBERS)
    with pytest.raises(DataError, match="topology is 'star'"):
        HiddenMarkovModel(2, transitions=TransitionMatrix("star")).fit(NUMBERS)
    with pytest.raises(DataError, match="leaves state 1 without"):
        HiddenMarkovModel(2, transitions=TransitionMatrix([[1, 1], [0, 0]])).fit(NUMBERS)
    with pytest.raises(DataError, match="one number per state"):
        HiddenMarkovModel(2, shared_emissions=[0, 2]).fit(NUMBERS)


@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
def test_a_variance_at_the_floor_is_said(covariance):
    emission = GaussianEmission(covariance)
    with pytest.warns(DataWarning, match=r"States \[0\] have a variance at variance_floor"):
        HiddenMarkovModel(1, emission).fit(np.ones(30))
    values = np.random.default_rng(0).normal(size=60)
    with pytest.warns(DataWarning, match="too few for so many states"):
        HiddenMarkovModel(50, emission, random_state=0, max_iter=5).fit(values)


def test_labels_get_a_hint():
    with pytest.raises(DataError, match=r"labels such as 'a'.*use CategoricalEmission"):
        HiddenMarkovModel(2).fit(["a", "b", "a"])


def test_parts_are_named_where_they_are_no_parts():
    with pytest.raises(DataError, match="transitions is 'left-to-right'; expected a part"):
        HiddenMarkovModel(2, transitions="left-to-right").fit([1.0, 2.0])
    with pytest.raises(DataError, match="shared_emissions needs one number per state"):
        HiddenMarkovModel(2, shared_emissions=[0.0, 1.0]).fit([1.0, 2.0])
    with pytest.raises(DataError, match="GaussianEmission has no values for all"):
        HiddenMarkovModel.from_parameters([1.0], [[1.0]], GaussianEmission())
    with pytest.raises(NotFittedError):
        HiddenMarkovModel().smooth([1.0])


def test_too_few_steps_and_idle_inputs_are_said():
    with pytest.warns(DataWarning, match="3 steps for 5 states"):
        HiddenMarkovModel(5, random_state=0).fit([1.0, 2.0, 3.0])
    with pytest.warns(DataWarning, match="inputs are not used"):
        HiddenMarkovModel(2, random_state=0, max_iter=3).fit(NUMBERS, inputs=INPUTS)


def test_names_of_columns_in_lists_of_tables():
    tables = [pd.DataFrame(part, columns=["a", "b"]) for part in NUMBERS]
    model = HiddenMarkovModel(2, random_state=0, max_iter=3).fit(tables)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert len(model.predict(tables)) == len(tables)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict([table[["b", "a"]] for table in tables])
