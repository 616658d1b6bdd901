"""Kinds of arguments: what they accept, and that public functions refuse all else in a sentence."""

import numpy as np
import pandas as pd
import pytest

from verulam import association, bayes, cluster, reduction, theory
from verulam.base import (
    BOOLEAN,
    COLLECTION,
    COUNT,
    FUNCTION,
    LABELS,
    LEARNER,
    NONE,
    NUMBER,
    NUMBERS,
    POSITIVE,
    SEED,
    TABLE,
    TEXT,
    VECTOR,
    WHOLE,
    DataError,
    Kind,
    array_of_numbers,
    checked_arguments,
)

X = np.arange(12.0).reshape(6, 2)
BASKETS = [["milk", "bread"], ["milk"], ["bread"]]


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"),
    [
        (NUMBER, [1, 2.5, np.float32(1), np.inf, -3], [True, "1", np.nan, None, [1], 10**30, 1j]),
        (WHOLE, [0, -2, np.int32(3)], [1.0, True, "1", 2**63]),
        (COUNT, [1, 7], [0, -1, 1.5]),
        (POSITIVE, [0.1, 3], [0, -1.0, np.inf, "x"]),
        (BOOLEAN, [True, np.True_], [1, "yes", None]),
        (TEXT, ["", "a"], [None, 1]),
        (NONE, [None], [0, ""]),
        (FUNCTION, [len, lambda: 0], [1, "len"]),
        (COLLECTION, [[], (1,), {2}, range(3), np.zeros(2)], ["text", {}, 3]),
        (VECTOR, [[1, 2], np.ones(3), pd.Series([1.0])], [[[1]], [], [np.nan], ["a"], "a", 3]),
        (TABLE, [X, pd.DataFrame(X), [[1]]], [[1, 2], np.empty((0, 2)), [[np.inf]], [[1], [2, 3]]]),
        (NUMBERS, [3, [1], X], ["x", {}, [None], np.array([1j])]),
        (LABELS, [["a", "b"], [1, 2], np.array([0])], [[[1]], "ab", None, [None, 1], {1: 2}]),
        (SEED, [None, 0, np.random.default_rng(0)], [-1, 1.5, "x", True]),
        (LEARNER, [bayes.BayesianLinearRegression()], [bayes.BayesianLinearRegression, len, None]),
        (NUMBER | NONE, [None, 1.0], ["a", np.nan]),
        (array_of_numbers(1, words="any", finite=False, empty=True), [[], [np.nan]], [[[1]]]),
    ],
)
def test_kinds(kind, accepted, refused):
    assert isinstance(kind, Kind)
    assert [value for value in accepted if not kind.accepts(value)] == []
    assert [value for value in refused if kind.accepts(value)] == []


def test_the_message_names_the_argument_and_shows_a_short_value():
    @checked_arguments(size=WHOLE, rows=TABLE | NONE)
    def f(size, *, rows=None, other=1):
        """Add."""
        return size, rows is None, other

    assert f(3, other="free") == (3, True, "free")
    assert f.__doc__ == "Add."
    with pytest.raises(DataError, match=r"^size must be a whole number; got 'three'\.$"):
        f("three")
    with pytest.raises(DataError, match=r"finite numbers, or None; got ndarray of shape \(50, 2\)"):
        f(1, rows=np.full((50, 2), np.nan))
    with pytest.raises(TypeError, match="missing a required argument: 'size'"):
        f()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes.metropolis(lambda x: 0.0, 0.0), "start must be a finite point"),
        (lambda: bayes.metropolis(lambda x: 0.0, [0.0], n_chains=True), "n_chains must be a whole"),
        (lambda: bayes.metropolis(lambda x: "x", [0.0]), "log_density must return a number"),
        (lambda: bayes.gibbs({"x": 3}, {"x": 0}), "conditionals must be a mapping"),
        (lambda: bayes.gibbs({"x": len}, 3), "start must be a mapping"),
        (lambda: bayes.laplace(3, [0.0]), "log_density must be a function"),
        (lambda: bayes.aic("x", 1), "log_likelihood must be a number"),
        (lambda: bayes.bayes_factor(None, 1.0), "first must be a number"),
        (lambda: bayes.average_density(3, [0]), "family must be a conjugate family"),
        (lambda: bayes.sample_prior("gaussian", X, n=-1), "n must be a whole number, 1 or more"),
        (lambda: bayes.next_query(3), "process must be a GaussianProcessRegressor"),
        (lambda: bayes.mean_field(0, [3], len), "updates must be a list of one function"),
        (lambda: bayes.Bernoulli("x"), "probability must be from 0 to 1; got 'x'"),
        (lambda: bayes.Wishart([], np.eye(2)), "df of Wishart must be above"),
        (lambda: bayes.MultivariateNormal([0, 0], [1, [2, 3]]), r"square matrix .* got \[1, \[2"),
        (lambda: bayes.NormalGamma(0.0, X), "kappa of NormalGamma must be a finite number"),
        (lambda: cluster.silhouettes(X, [None] * 6), "labels must be a vector of labels"),
        (lambda: cluster.descend_mixture(X, 3), "start must be a record Components"),
        (lambda: cluster.select_mixture(X, 3), "n_components must be a list"),
        (lambda: reduction.ball_volume("x"), "n_dimensions must be a whole number"),
        (lambda: reduction.varimax(X, normalise="x"), "normalise must be True or False"),
        (lambda: reduction.spatial_filters(16), "shape must be two whole numbers"),
        (lambda: association.apriori(BASKETS, "x"), "min_support must be a number"),
        (lambda: association.frequent_itemsets(BASKETS, kind=3), "kind must be a string"),
        (lambda: association.conditional_probability(BASKETS, 3), "items must be a list"),
        (
            lambda: theory.finite_class_bound("x", error=0.1, delta=0.1),
            "n_hypotheses must be a num",
        ),
        (lambda: theory.n_dichotomies(2.5, 1), "n_points must be a whole number"),
        (lambda: theory.shatters(X[:2], 3), "hypotheses must be a string, or a function"),
    ],
)
def test_public_functions_refuse_wrong_kinds(call, message):
    with pytest.raises(DataError, match=message):
        call()
