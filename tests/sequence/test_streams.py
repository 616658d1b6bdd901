"""Several streams: the product of their emissions, mixed tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    StreamEmission,
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
    both._adopt(
        type(both.model_)(
            both.model_.parts,
            fitted.model_.initial,
            fitted.model_.transitions,
            both.model_.emission,
        )
    )
    assert_allclose(fitted.score(X), both.score(pairs))


def test_tables_of_words_and_numbers():
    frame = pd.DataFrame({"word": ["a", "a", "b", "b"] * 5, "level": [0.0, 0.1, 5.0, 5.1] * 5})
    emission = StreamEmission((CategoricalEmission(prior=0.1), GaussianEmission()))
    model = HiddenMarkovModel(2, emission, random_state=0, max_iter=500).fit(frame)
    assert model.emission_.parts[0].symbols.tolist() == ["a", "b"]
    assert len(set(model.predict(frame).tolist())) == 2


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
