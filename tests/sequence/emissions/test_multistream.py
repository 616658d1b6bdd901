"""Several streams: the product of their emissions, mixed tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.sequence import (
    AutoregressiveEmission,
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    RegressionEmission,
    StreamEmission,
    align_states,
)


def test_two_alphabets_multiply():
    tables = [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]
    both = HiddenMarkovModel.from_parameters(
        [0.4, 0.6],
        [[0.7, 0.3], [0.2, 0.8]],
        CategoricalEmission(
            probabilities=np.einsum("ki,kj->kij", *map(np.array, tables)).reshape(2, 6)
        ),
    )
    X = np.array([[0, 1], [1, 2], [1, 0], [0, 2]])
    fitted = HiddenMarkovModel(
        2,
        StreamEmission(
            tuple(
                CategoricalEmission(probabilities=table, fixed=("probabilities",))
                for table in tables
            )
        ),
        initial=both.get_params()["initial"],
        transitions=both.get_params()["transitions"],
        max_iter=500,
    ).fit(X)
    pairs = X[:, 0] * 3 + X[:, 1]
    both._store(
        type(both.model_)(
            both.model_.parts,
            fitted.model_.initial,
            fitted.model_.transitions,
            both.model_.emission,
        )
    )
    assert_allclose(fitted.score(X), both.score(pairs))
    with pytest.raises(DataError, match="known are 0 to 2"):
        fitted.score(np.array([[0, 1], [1, 3]]))


def test_tables_of_words_and_numbers():
    frame = pd.DataFrame({"word": ["a", "a", "b", "b"] * 5, "level": [0.0, 0.1, 5.0, 5.1] * 5})
    emission = StreamEmission((CategoricalEmission(prior=0.1), GaussianEmission()))
    model = HiddenMarkovModel(2, emission, random_state=0, max_iter=500).fit(frame)
    assert model.emission_.parts[0].symbols.tolist() == ["a", "b"]
    assert len(set(model.predict(frame).tolist())) == 2
    # A word keeps its meaning where others are absent: here only "a" goes with low levels.
    alone = [model.score(pd.DataFrame({"word": [word], "level": [0.05]})) for word in "ab"]
    shares = model.emission_.parts[0].probabilities[model.predict(frame)[0]]
    assert_allclose(np.diff(alone), np.diff(np.log(shares)))
    assert shares[0] > 0.9


def test_columns_must_add_up():
    emission = StreamEmission((GaussianEmission(), GaussianEmission()), (1, 2))
    with pytest.raises(DataError, match="take 3 columns in 2 groups; X has 2 columns"):
        HiddenMarkovModel(1, emission).fit(np.zeros((4, 2)))


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.inf, "X holds infinity"), (1e160, "squares are beyond"), ("a", "labels such as 'a'")],
)
def test_streams_of_numbers_are_checked(value, message):
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, value]], dtype=object)
    model = HiddenMarkovModel(2, StreamEmission((GaussianEmission(), GaussianEmission())))
    with pytest.raises(DataError, match=message):
        model.fit(X)


def test_a_variance_at_the_floor_is_said_by_stream():
    X = np.column_stack([np.random.default_rng(0).normal(size=30), np.ones(30)])
    model = HiddenMarkovModel(1, StreamEmission((GaussianEmission(), GaussianEmission())))
    with pytest.warns(DataWarning, match=r"Stream 1: States \[0\] have a variance at"):
        model.fit(X)


def test_streams_with_inputs_and_a_past():
    random = np.random.default_rng(0)
    states = np.repeat(random.integers(2, size=30), 10)
    x = random.normal(size=(300, 1))
    lines = np.where(states, 2.0, -2.0) * x[:, 0] + 0.3 * random.normal(size=300)
    walk = [0.0]
    for state in states[1:]:
        walk.append((0.9 if state else -0.9) * walk[-1] + random.normal())
    X = np.column_stack([lines, walk])
    emission = StreamEmission((RegressionEmission(), AutoregressiveEmission(1)))
    pieces, known = [X[:100], X[100:]], [x[:100], x[100:]]
    model = HiddenMarkovModel(2, emission, random_state=0).fit(pieces, inputs=known)
    paths = np.concatenate(model.predict(pieces, inputs=known))
    assert align_states(states, paths).agreement > 0.97
    assert_allclose(np.sort(model.emission_.parts[0].weights[:, 1, 0]), [-2, 2], atol=0.2)
    assert_allclose(np.sort(model.emission_.parts[1].weights[:, 1, 0]), [-0.9, 0.9], atol=0.15)
    drawn = model.sample(50, inputs=x[:50], random_state=0)
    assert drawn.observations[0].shape == (50, 2)


def test_words_and_numbers_are_drawn_as_such():
    emission = StreamEmission(
        (
            CategoricalEmission(["low", "high"], probabilities=np.eye(2)),
            GaussianEmission(means=[[0.0], [100.0]], covariances=np.ones((2, 1))),
        )
    )
    model = HiddenMarkovModel.from_parameters([0.5, 0.5], np.full((2, 2), 0.5), emission, 2)
    rows = model.sample(30, random_state=0).observations[0]
    assert {type(value) for value in rows[:, 1]} == {float}
    assert ((rows[:, 0] == "high") == (rows[:, 1] > 50)).all()
    assert np.isfinite(model.score(rows))
