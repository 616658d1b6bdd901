"""Discriminant projections: the criterion, scatters, two classes and many, streams."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.reduction import (
    CanonicalCorrelations,
    DiscriminantProjection,
    Scatters,
    class_scatters,
)

IRIS = dataset("iris")
X = IRIS.inputs.to_numpy(dtype=float)
Y = np.asarray(IRIS.target_values)


def two_classes():
    random = np.random.default_rng(0)
    rows = random.normal(size=(70, 3)) @ [[2.0, 0.3, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.7]]
    labels = np.r_[np.zeros(50, int), np.ones(20, int)]
    return rows + np.outer(labels, [1.0, -1.0, 0.5]), labels


def test_scatters_by_their_definition():
    rows, labels = two_classes()
    first, second = rows[labels == 0], rows[labels == 1]
    within = sum((part - part.mean(0)).T @ (part - part.mean(0)) for part in (first, second))
    scatters = class_scatters(rows, labels)
    assert isinstance(scatters, Scatters)
    assert_allclose(scatters.within, within)
    total = (rows - rows.mean(0)).T @ (rows - rows.mean(0))
    assert_allclose(scatters.total, total)
    middle = class_scatters(rows, labels, centre="class-means")
    assert_allclose(middle.centre, (first.mean(0) + second.mean(0)) / 2)
    # Of unequal classes the unweighted centre has no such sum.
    assert np.abs(middle.total - total).max() > 1.0


def test_the_direction_of_two_classes_is_fishers_and_maximal():
    rows, labels = two_classes()
    projection = DiscriminantProjection().fit(rows, labels)
    scatters = projection.scatters_
    gap = projection.means_[1] - projection.means_[0]
    fisher = np.linalg.solve(scatters.within, gap)
    w = projection.components_[0]
    assert_allclose(w / np.linalg.norm(w) * np.sign(w @ fisher), fisher / np.linalg.norm(fisher))
    assert scatters.ratio(w) == pytest.approx(projection.eigenvalues_[0])
    # The printed criterion is the same up to the share N1 N2 / N of the gap's square.
    z = rows @ w
    parts = [z[labels == k] for k in (0, 1)]
    printed = (parts[0].mean() - parts[1].mean()) ** 2 / sum(
        ((p - p.mean()) ** 2).sum() for p in parts
    )
    assert printed * 50 * 20 / 70 == pytest.approx(projection.eigenvalues_[0])
    random = np.random.default_rng(1)
    for direction in random.normal(size=(50, 3)):
        assert scatters.ratio(direction) <= projection.eigenvalues_[0]
    # One column is its own direction, with the ratio that the formula gives it.
    alone = DiscriminantProjection().fit(rows[:, :1], labels)
    assert alone.eigenvalues_[0] == pytest.approx(scatters.ratio([1.0, 0.0, 0.0]))
    with pytest.raises(DataError, match="expected 3 numbers"):
        scatters.ratio([1.0, 2.0])


def test_agrees_with_scikit_learn_on_balanced_classes():
    ours = DiscriminantProjection().fit(X, Y)
    theirs = LinearDiscriminantAnalysis(solver="svd", priors=[1 / 3] * 3).fit(X, Y)
    # Theirs divides the scatter by the number of rows, not by the degrees of freedom.
    scale = np.sqrt(len(X) / (len(X) - 3))
    assert_allclose(scale * np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-9)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert (ours.predict(X) == theirs.predict(X)).all()
    scores = ours.decision_function(X)
    assert (ours.classes_[scores.argmax(axis=1)] == ours.predict(X)).all()


def test_the_projection_has_unit_spread_within_and_none_between_axes():
    projection = DiscriminantProjection().fit(X, Y)
    z = projection.transform(X)
    within = class_scatters(z, Y).within / (len(X) - 3)
    assert_allclose(within, np.eye(2), atol=1e-10)
    between = class_scatters(z, Y).between
    assert_allclose(between, np.diag(np.diag(between)), atol=1e-8)
    assert len(projection.eigenvalues_) == 2


def test_published_values_of_iris():
    """Scores of R's MASS::lda; Wilks' lambda and canonical correlations of SAS's CANDISC."""
    projection = DiscriminantProjection().fit(X, Y)
    assert_allclose(projection.canonical_correlations_, [0.984821, 0.471197], atol=1e-5)
    assert_allclose(np.abs(projection.transform(X[:1])[0]), [8.0618, 0.3004], atol=5e-5)
    assert np.prod(1 / (1 + projection.eigenvalues_)) == pytest.approx(0.023439, abs=1e-6)


def test_canonical_discrimination_is_canonical_correlation_with_the_classes():
    indicators = (Y[:, None] == np.unique(Y)).astype(float)
    correlations = CanonicalCorrelations(2).fit(X, indicators)
    projection = DiscriminantProjection().fit(X, Y)
    assert_allclose(correlations.correlations_, projection.canonical_correlations_, atol=1e-9)


def test_centres_differ_where_classes_are_unequal():
    rows = np.vstack([X, X[:40] + 0.1])
    labels = np.r_[Y, Y[:40]]
    weighted = DiscriminantProjection().fit(rows, labels)
    middle = DiscriminantProjection(centre="class-means").fit(rows, labels)
    assert np.abs(weighted.eigenvalues_ - middle.eigenvalues_).max() > 1e-3
    means = middle.means_
    deviations = means - means.mean(axis=0)
    sizes = np.bincount(np.unique(labels, return_inverse=True)[1])
    between = (deviations * sizes[:, None]).T @ deviations
    ratio = np.linalg.eigvals(np.linalg.solve(middle.scatters_.within, between))
    assert_allclose(np.sort(ratio.real)[::-1][:2], middle.eigenvalues_, rtol=1e-8)


def test_shrinkage_makes_many_columns_possible():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], 8)
    rows = random.normal(size=(16, 40)) + labels[:, None]
    with pytest.warns(DataWarning, match="linearly dependent within the classes"):
        DiscriminantProjection().fit(rows, labels)
    shrunk = DiscriminantProjection(shrinkage=0.5).fit(rows, labels)
    within = shrunk.scatters_.within
    mixed = 0.5 * within + 0.5 * np.trace(within) / 40 * np.eye(40)
    fisher = np.linalg.solve(mixed, shrunk.means_[1] - shrunk.means_[0])
    w = shrunk.components_[0]
    assert abs(w @ fisher) == pytest.approx(np.linalg.norm(w) * np.linalg.norm(fisher))
    # All of the sphere: the direction of the means, whatever the spread.
    sphere = DiscriminantProjection(shrinkage=1.0).fit(rows, labels)
    gap = sphere.means_[1] - sphere.means_[0]
    w = sphere.components_[0]
    assert abs(w @ gap) == pytest.approx(np.linalg.norm(w) * np.linalg.norm(gap))


def test_pieces_may_bring_new_classes():
    whole = DiscriminantProjection().fit(X, Y)
    pieces = DiscriminantProjection()
    pieces.partial_fit(X[:100], Y[:100])
    assert pieces.n_components_ == 1
    pieces.partial_fit(X[100:], Y[100:])
    assert_allclose(pieces.components_, whole.components_, atol=1e-8)
    streamed = DiscriminantProjection().fit(lambda: iter([(X[::2], Y[::2]), (X[1::2], Y[1::2])]))
    assert_allclose(streamed.transform(X), whole.transform(X), atol=1e-8)


def test_bad_input():
    with pytest.raises(ValueError, match="only one class"):
        DiscriminantProjection().fit(X[:50], Y[:50])
    with pytest.raises(DataError, match="n_components=3: 3 classes"):
        DiscriminantProjection(3).fit(X, Y)
    with pytest.raises(DataError, match="does not vary within the classes"):
        DiscriminantProjection().fit([[1.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="NaN"):
        DiscriminantProjection().fit([[np.nan], [1.0]], [0, 1])
    with pytest.raises(DataError, match="X has 2 rows and y has 3"):
        class_scatters([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(DataError, match="centre='middle'"):
        class_scatters(X, Y, centre="middle")
