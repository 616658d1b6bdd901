"""Basis functions: their values, their number, and what becomes linear in them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.linear.examples import CORNERS, XOR, overlapping

from verulam.base import DataError
from verulam.linear import BasisExpansion, MinimumSquaredError, Perceptron

ROWS = overlapping(30)[0]


def test_two_inputs_have_five_products():
    expanded = BasisExpansion().fit_transform([[2.0, 3.0]])
    assert expanded.tolist() == [[2.0, 3.0, 4.0, 6.0, 9.0]]
    theirs = PolynomialFeatures(3, include_bias=False).fit_transform(ROWS)
    assert np.allclose(BasisExpansion(degree=3).fit_transform(ROWS), theirs)


def test_powers_of_single_inputs():
    expanded = BasisExpansion(kind="powers", degree=3).fit_transform([[2.0, -1.0]])
    assert expanded.tolist() == [[2.0, -1.0, 4.0, 1.0, 8.0, -1.0]]


def test_bumps_are_densities_without_their_constant():
    basis = BasisExpansion(kind="bumps", n_functions=4, bandwidth=0.8, random_state=0).fit(ROWS)
    density = multivariate_normal(basis.centres_[2], 0.8**2 * np.eye(3))
    expected = density.pdf(ROWS) / density.pdf(basis.centres_[2])
    assert np.allclose(basis.transform(ROWS)[:, 2], expected)
    assert all(any(np.array_equal(centre, row) for row in ROWS) for centre in basis.centres_)


def test_steps_count_the_thresholds_below():
    basis = BasisExpansion(kind="steps", n_functions=4).fit(ROWS)
    assert basis.thresholds_.shape == (3, 4)
    below = basis.transform(ROWS)[:, :4].sum(axis=1)
    assert np.array_equal(below, (ROWS[:, :1] > basis.thresholds_[0]).sum(axis=1))


def test_waves_return_to_their_start_over_the_range():
    basis = BasisExpansion(kind="sine", degree=2).fit(ROWS)
    ends = basis.transform(np.stack([ROWS.min(axis=0), ROWS.max(axis=0)]))
    assert np.allclose(ends[0], ends[1])
    assert basis.n_functions_ == 12


def test_own_functions():
    functions = [lambda rows: rows[:, 0] * rows[:, 1], lambda rows: np.log1p(rows[:, 1] ** 2)]
    expanded = BasisExpansion(kind="functions", functions=functions).fit_transform(ROWS)
    assert np.allclose(expanded, np.c_[ROWS[:, 0] * ROWS[:, 1], np.log1p(ROWS[:, 1] ** 2)])


@pytest.mark.parametrize("kind", ["polynomial", "bumps"])
def test_exclusive_or_becomes_separable(kind):
    basis = BasisExpansion(kind=kind, n_functions=4, random_state=0)
    machine = make_pipeline(basis, Perceptron(random_state=0)).fit(CORNERS, XOR)
    assert machine.predict(CORNERS).tolist() == XOR.tolist()


def test_one_input_squared_cuts_out_an_interval():
    line = np.linspace(0, 6, 61)[:, None]
    inside = ((line[:, 0] > 2) & (line[:, 0] < 4)).astype(int)
    machine = make_pipeline(BasisExpansion(), MinimumSquaredError()).fit(line, inside)
    positive = line[machine.predict(line) == 1, 0]
    assert positive.min() > 1.0
    assert positive.max() < 5.0
    assert np.allclose(np.diff(positive), 0.1)


@pytest.mark.parametrize(
    ("functions", "message"),
    [(None, "must be given"), ([lambda rows: rows], "must return 1 values")],
)
def test_bad_functions_are_named(functions, message):
    with pytest.raises(DataError, match=message):
        BasisExpansion(kind="functions", functions=functions).fit(ROWS)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("polynomial", ["a", "b", "a^2", "a b", "b^2"]),
        ("powers", ["a", "b", "a^2", "b^2"]),
        ("sine", [f"{f}({k} {name})" for k in "12" for f in ("sin", "cos") for name in "ab"]),
        ("steps", ["a>1", "a>2", "b>10", "b>20"]),
        ("bumps", ["bump0", "bump1"]),
    ],
)
def test_names_are_made_of_the_names_of_the_inputs(kind, expected):
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 10.0, 20.0, 30.0]})
    basis = BasisExpansion(kind=kind, n_functions=2, random_state=0).set_output(transform="pandas")
    expanded = basis.fit_transform(table)
    assert list(expanded.columns) == expected
    plain = BasisExpansion(kind=kind, n_functions=2, random_state=0).fit(table.to_numpy())
    assert plain.get_feature_names_out(["a", "b"]).tolist() == expected
    with pytest.raises(ValueError, match="input_features"):
        plain.get_feature_names_out(["a"])


def test_constant_rows_get_finite_bumps_and_waves():
    same = np.ones((5, 2))
    for kind in ("bumps", "sine", "steps"):
        assert np.isfinite(BasisExpansion(kind=kind, random_state=0).fit_transform(same)).all()
