"""Classical scaling: recovered points, components, Lanczos, new rows, and what is no distance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.manifold import ClassicalMDS

from verulam.base import DataError, DataWarning
from verulam.reduction import (
    ClassicalScaling,
    CurvilinearComponents,
    PrincipalComponents,
    StressScaling,
)
from verulam.reduction._distances import classical

RANDOM = np.random.default_rng(0)
#: Road distances between four towns at the corners of a rectangle of sides 3 and 4.
RECTANGLE = np.array([[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]], dtype=float)


def test_points_of_a_plane_are_recovered_up_to_turning_and_mirroring():
    points = RANDOM.normal(size=(40, 2)) @ [[3.0, 1.0], [0.0, 1.0]]
    lifted = points @ np.linalg.qr(RANDOM.normal(size=(5, 5)))[0][:2]
    scaling = ClassicalScaling(2, metric="precomputed").fit(cdist(lifted, lifted))
    assert_allclose(cdist(scaling.embedding_, scaling.embedding_), cdist(points, points))
    assert scaling.explained_ratio_ == pytest.approx(1.0)
    assert_allclose((scaling.embedding_**2).sum(axis=0), scaling.eigenvalues_)
    corners = ClassicalScaling(2, metric="precomputed").fit(RECTANGLE)
    assert_allclose(cdist(corners.embedding_, corners.embedding_), RECTANGLE, atol=1e-12)


def test_euclidean_distances_give_principal_components():
    rows = RANDOM.normal(size=(60, 5)) * [5, 3, 2, 1, 0.5]
    z = PrincipalComponents(3).fit_transform(rows)
    assert_allclose(np.abs(ClassicalScaling(3).fit_transform(rows)), np.abs(z), atol=1e-9)


@pytest.mark.parametrize("n_rows", [100, 600])
def test_agrees_with_scikit_learn_below_and_above_the_iteration(n_rows):
    rows = RANDOM.normal(size=(n_rows, 6)) * [6, 4, 3, 2, 1, 1]
    matrix = cdist(rows, rows, "cityblock")
    ours = ClassicalScaling(3, metric="precomputed").fit(matrix)
    theirs = ClassicalMDS(3, metric="precomputed").fit(matrix)
    assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), atol=1e-8)
    again = ClassicalScaling(3, metric="manhattan").fit(rows)
    assert_allclose(again.embedding_, ours.embedding_, atol=1e-8)


@pytest.mark.parametrize("kind", [ClassicalScaling, StressScaling, CurvilinearComponents])
@pytest.mark.parametrize("metric", ["sqeuclidean", "hamming"])
def test_a_metric_is_the_matrix_of_its_distances(kind, metric):
    rows = RANDOM.integers(3, size=(30, 6)).astype(float)
    seed = {} if kind is ClassicalScaling else {"random_state": 0}
    direct = kind(2, metric=metric, **seed).fit_transform(rows)
    given = kind(2, metric="precomputed", **seed).fit_transform(cdist(rows, rows, metric))
    assert_allclose(cdist(direct, direct), cdist(given, given), atol=1e-6)


def test_the_explained_share_counts_eigenvalues_above_zero_alone():
    rows = RANDOM.normal(size=(30, 4))
    matrix = cdist(rows, rows, "chebyshev") ** 2  # far from distances of points
    centring = np.eye(30) - 1 / 30
    values = np.linalg.eigvalsh(-0.5 * centring @ matrix**2 @ centring)
    assert values[0] < -0.1 * values[-1]
    scaling = ClassicalScaling(3, metric="precomputed").fit(matrix)
    assert scaling.explained_ratio_ == pytest.approx(values[-3:].sum() / values[values > 0].sum())
    # Eight eigenvalues exceed the sum of all.
    assert values[-8:].sum() > values.sum()
    assert ClassicalScaling(8, metric="precomputed").fit(matrix).explained_ratio_ < 1.0
    components = PrincipalComponents(2).fit(rows)
    share = components.explained_variance_ratio_.sum()
    assert ClassicalScaling(2).fit(rows).explained_ratio_ == pytest.approx(share)
    given = ClassicalScaling(2, metric="precomputed").fit(cdist(rows, rows))
    assert given.explained_ratio_ == pytest.approx(share)


def test_the_explained_share_is_that_of_the_fit(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(30, 4))
    scaling = ClassicalScaling(2, metric="manhattan").fit(rows)
    expected = ClassicalScaling(2, metric="manhattan").fit(rows).explained_ratio_
    other = scaling.set_params(metric="euclidean").explained_ratio_
    assert other == expected
    # It takes long for many rows, so it is computed once.
    monkeypatch.setattr(classical, "centred_products", None)
    assert scaling.explained_ratio_ == expected
    monkeypatch.undo()
    assert scaling.fit(rows).explained_ratio_ == ClassicalScaling(2).fit(rows).explained_ratio_


def test_new_rows_are_placed_where_components_put_them():
    rows = RANDOM.normal(size=(50, 4)) * [4, 2, 1, 0.5]
    new = RANDOM.normal(size=(7, 4))
    scaling = ClassicalScaling(2).fit(rows)
    components = PrincipalComponents(2).fit(rows)
    signs = np.sign((scaling.embedding_ * components.transform(rows)).sum(axis=0))
    assert_allclose(scaling.transform(new), components.transform(new) * signs, atol=1e-9)
    assert_allclose(scaling.transform(rows), scaling.embedding_, atol=1e-9)
    given = ClassicalScaling(2, metric="precomputed").fit(cdist(rows, rows))
    assert_allclose(given.transform(cdist(new, rows)), scaling.transform(new), atol=1e-9)


def test_fewer_dimensions_than_asked_for():
    line = np.arange(6.0)[:, None]
    with pytest.warns(DataWarning, match="points in 1 dimensions"):
        assert ClassicalScaling(2).fit(line).embedding_.shape == (6, 1)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), "square matrix"),
        ([[0, 1], [2, 0]], r"not symmetric: rows 0 and 1 .* 1 and 2"),
        ([[0, -1], [-1, 0]], "not below zero"),
        ([[1, 0.5], [0.5, 1]], "from itself; the diagonal must be zero. Similarities"),
        (np.zeros((3, 3)), "does not vary"),
        ([[0, np.nan], [np.nan, 0]], "NaN"),
    ],
)
def test_what_is_no_distance_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        ClassicalScaling(1, metric="precomputed").fit(matrix)


def test_bad_input():
    with pytest.raises(DataError, match=r"n_components=4: n_samples=4 rows lie in at most 3"):
        ClassicalScaling(4, metric="precomputed").fit(RECTANGLE)
    with pytest.raises(ValueError, match="minimum of 2"):
        ClassicalScaling(1).fit([[1.0, 2.0]])
    scaling = ClassicalScaling(2, metric="precomputed").fit(RECTANGLE)
    with pytest.raises(DataError, match="below zero"):
        scaling.transform([[1.0, -1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="4 features"):
        scaling.transform([[1.0, 2.0]])


def test_rounding_in_a_matrix_of_distances_is_no_fault():
    matrix = cdist(*[np.random.default_rng(0).normal(size=(6, 2))] * 2)
    expected = ClassicalScaling(2, metric="precomputed").fit(matrix).embedding_
    matrix[2, 2] = 1e-16
    assert_allclose(ClassicalScaling(2, metric="precomputed").fit(matrix).embedding_, expected)
    matrix[2, 2] = 1e-3
    with pytest.raises(DataError, match="the diagonal must be zero"):
        ClassicalScaling(2, metric="precomputed").fit(matrix)


def test_a_row_without_direction_is_told():
    rows = np.vstack([np.random.default_rng(0).normal(size=(6, 3)), np.zeros(3)])
    with pytest.raises(DataError, match="a row of zeros has no direction"):
        ClassicalScaling(2, metric="cosine").fit(rows)
