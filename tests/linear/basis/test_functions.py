"""Each kind of basis function: its values by the formula, and what it is good for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from tests.linear.examples import overlapping

from verulam.base import DataError
from verulam.linear import BasisExpansion, LogisticDiscriminant
from verulam.linear._basis.functions import draw_planes, gaussians, median_distance

ROWS, CLASSES = overlapping(40)
IRIS, SPECIES = load_iris(return_X_y=True)


def test_logarithms():
    positive = np.exp(ROWS)
    assert np.allclose(BasisExpansion(kind="logarithms").fit_transform(positive), ROWS)
    with pytest.raises(DataError, match=r"positive inputs; row 1 has -1 in column 0"):
        BasisExpansion(kind="logarithms").fit([[1.0], [-1.0]])
    fitted = BasisExpansion(kind="logarithms").fit(positive)
    with pytest.raises(DataError, match="row 0 has 0 in column 2"):
        fitted.transform([[1.0, 1.0, 0.0]])


def test_a_product_is_linear_in_logarithms():
    """Classes by the product of two inputs: a curve over them, a line over their logarithms."""
    rows = np.random.default_rng(0).uniform(0.1, 10.0, size=(300, 2))
    classes = rows[:, 0] * rows[:, 1] > 8.0
    expanded = make_pipeline(BasisExpansion(kind="logarithms"), LogisticDiscriminant(alpha=0.01))
    assert expanded.fit(rows, classes).score(rows, classes) > 0.99
    assert LogisticDiscriminant().fit(rows, classes).score(rows, classes) < 0.95


def test_planes_are_indicators_of_their_positive_side():
    basis = BasisExpansion(kind="planes", planes=[[-1.0, 2.0, 0.0, 1.0], [0.5, 0.0, -1.0, 0.0]])
    expected = np.c_[2 * ROWS[:, 0] + ROWS[:, 2] > 1.0, ROWS[:, 1] < 0.5]
    assert np.array_equal(basis.fit_transform(ROWS), expected)
    assert basis.get_feature_names_out()[0] == "2 x0 + 0 x1 + 1 x2 > 1"
    with pytest.raises(DataError, match=r"4 numbers each, the bias in front.*\(1, 3\)"):
        BasisExpansion(kind="planes", planes=[[1.0, 2.0, 3.0]]).fit(ROWS)


def test_sigmoids_are_soft_planes():
    planes = [[-1.0, 2.0, 0.5], [0.0, -1.0, 3.0]]
    rows = np.random.default_rng(0).normal(size=(20, 2))
    soft = BasisExpansion(kind="sigmoids", planes=planes).fit(rows)
    values = rows @ np.array(planes)[:, 1:].T + np.array(planes)[:, 0]
    assert np.allclose(soft.transform(rows), 1 / (1 + np.exp(-values)))
    hard = BasisExpansion(kind="planes", planes=planes).fit_transform(rows)
    assert np.array_equal(soft.transform(rows) > 0.5, hard == 1)
    names = soft.get_feature_names_out(["a", "b"])
    assert names[0] == "sigmoid(2 a + 0.5 b - 1)"


def test_drawn_planes_go_through_rows():
    planes = draw_planes(ROWS * [1.0, 1e3, 1e-3], 20, np.random.default_rng(0))
    heights = ROWS * [1.0, 1e3, 1e-3] @ planes.weights.T + planes.biases
    assert np.allclose(np.abs(heights).min(axis=0), 0.0, atol=1e-9)
    shares = BasisExpansion(kind="planes", n_functions=20, random_state=0).fit_transform(ROWS)
    assert ((shares.mean(axis=0) >= 0) & (shares.mean(axis=0) < 1)).all()
    assert set(np.unique(shares)) == {0.0, 1.0}


def test_single_bumps_see_one_input_each():
    basis = BasisExpansion(kind="single bumps", n_functions=3, bandwidth=0.5).fit(ROWS)
    assert basis.centres_.shape == (3, 3)
    assert np.allclose(basis.centres_[1], np.quantile(ROWS[:, 1], [0.25, 0.5, 0.75]))
    heights = basis.transform(ROWS).reshape(40, 3, 3)
    for column in range(3):
        away = ROWS[:, column, None] - basis.centres_[column]
        assert np.allclose(heights[:, column], np.exp(-(away**2) / (2 * 0.5**2)))
    assert basis.n_functions_ == 9


def test_single_bumps_draw_a_wave_of_classes():
    line = np.linspace(0, 10, 200)[:, None]
    classes = np.sin(line[:, 0] * 1.5) > 0
    basis = BasisExpansion(kind="single bumps", n_functions=10)
    model = make_pipeline(basis, LogisticDiscriminant(alpha=0.01)).fit(line, classes)
    assert model.score(line, classes) > 0.97


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("potentials", lambda away, s: 1.0 / (1.0 + (away**2).sum(axis=2) / s**2)),
        ("windows", lambda away, s: (np.abs(away) <= s).all(axis=2)),
    ],
)
def test_every_row_is_a_centre(kind, function):
    basis = BasisExpansion(kind=kind, bandwidth=0.7).fit(ROWS)
    fresh = overlapping(15, seed=5)[0]
    away = fresh[:, None] - ROWS[None]
    assert np.allclose(basis.transform(fresh), function(away, 0.7))
    assert basis.n_functions_ == 40
    assert basis.bandwidth_ == 0.7
    assert basis.get_feature_names_out()[3] == f"{kind[:-1]}3"
    assert BasisExpansion(kind=kind).fit(ROWS).bandwidth_ == pytest.approx(median_distance(ROWS))


def test_windows_added_up_are_parzens_estimate():
    """The sum over windows counts the rows in a cube, which is N h^d times the density."""
    basis = BasisExpansion(kind="windows", bandwidth=0.5).fit(ROWS)
    counts = basis.transform(ROWS).sum(axis=1)
    inside = [(np.abs(ROWS - row) <= 0.5).all(axis=1).sum() for row in ROWS]
    assert counts.tolist() == inside


@pytest.mark.parametrize("kind", ["potentials", "bumps", "planes", "windows"])
def test_rings_become_linear(kind):
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 2))
    classes = (rows**2).sum(axis=1) > 1.4
    basis = BasisExpansion(kind=kind, n_functions=40, bandwidth=0.8, random_state=0)
    model = make_pipeline(basis, LogisticDiscriminant(alpha=0.1)).fit(rows, classes)
    assert model.score(rows, classes) > 0.9
    assert LogisticDiscriminant().fit(rows, classes).score(rows, classes) < 0.7


@pytest.mark.parametrize(
    "identity",
    [
        BasisExpansion(kind="polynomial", degree=1),
        BasisExpansion(kind="powers", degree=1),
        BasisExpansion(
            kind="functions", functions=[lambda x, j=j: x[:, j] for j in range(IRIS.shape[1])]
        ),
    ],
)
def test_the_identity_gives_softmax_discrimination(identity):
    plain = LogisticDiscriminant(tol=1e-9).fit(IRIS, SPECIES)
    model = make_pipeline(identity, LogisticDiscriminant(tol=1e-9)).fit(IRIS, SPECIES)
    assert np.allclose(model.predict_proba(IRIS), plain.predict_proba(IRIS))
    assert np.allclose(model[-1].coef_, plain.coef_)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("logarithms", ["log(a)", "log(b)"]),
        ("single bumps", ["a~2", "a~3", "b~20", "b~30"]),
        ("potentials", ["potential0", "potential1", "potential2", "potential3"]),
    ],
)
def test_names_are_made_of_the_names_of_the_inputs(kind, expected):
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [10.0, 20.0, 30.0, 40.0]})
    basis = BasisExpansion(kind=kind, n_functions=2).set_output(transform="pandas")
    assert list(basis.fit_transform(table).columns) == expected


def test_one_centre_has_a_width():
    assert median_distance(np.zeros((1, 2))) == median_distance(np.zeros((3, 2))) == 1.0
    assert gaussians(np.zeros((1, 2)), np.zeros((1, 2)), 1.0).tolist() == [[1.0]]
