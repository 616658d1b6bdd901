"""Cases of instances about a margin and a tube, and rows near the boundary before training."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import (
    InstanceReport,
    SupportVectorClassifier,
    margin_report,
    near_boundary,
    tube_report,
)


def test_slack_typology():
    """Slack 0 on the margin, between 0 and 1 inside, 1 on the plane, above 1 wrong."""
    report = margin_report(np.array([2.0, 1.0, 0.75, 0.0, -0.5]), 1e-6)
    assert report.cases.tolist() == ["safe", "on margin", "inside margin", "inside margin", "wrong"]
    assert_allclose(report.slack, [0, 0, 0.25, 1.0, 1.5])
    assert (report.soft_error, report.n_with_slack, report.n_wrong) == (2.75, 3, 1)
    assert report.counts()["inside margin"] == 2
    assert report.to_frame().shape == (5, 3)


def test_tube():
    report = tube_report(np.array([0.0, 0.5, -0.5, 1.25]), 0.5, 1e-6)
    assert report.cases.tolist() == ["in tube", "on tube", "on tube", "outside"]
    assert_allclose(report.slack, [0, 0, 0, 0.75])
    assert (report.soft_error, report.n_wrong) == (0.75, 1)


def test_the_boundary_stays():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(800, 2))
    y = (X[:, 0] + 0.3 * np.sin(4 * X[:, 1]) > 0).astype(int)
    near = near_boundary(X, y, n_neighbors=11)
    assert near.mean() < 0.4
    whole = SupportVectorClassifier(C=10.0).fit(X, y)
    part = SupportVectorClassifier(kernel=whole.kernel_, C=10.0).fit(X[near], y[near])
    queries = rng.uniform(-1, 1, size=(2000, 2))
    assert (whole.predict(queries) == part.predict(queries)).mean() > 0.98


@pytest.mark.parametrize("n_neighbors", [3, 11])
def test_rows_with_a_neighbour_of_another_class_by_hand(n_neighbors):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(200, 2))
    y = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.3, 0.3])]
    expected = []
    for row, label in zip(X, y, strict=True):
        # The nearest of all is the row itself.
        nearest = np.argsort(((X - row) ** 2).sum(axis=1))[1 : n_neighbors + 1]
        expected.append(bool((y[nearest] != label).any()))
    assert near_boundary(X, y, n_neighbors).tolist() == expected
    assert 0 < sum(expected) < len(y)


def test_too_many_neighbours_are_refused():
    with pytest.raises(DataError, match="from 1 to 2"):
        near_boundary([[0.0], [1.0], [2.0]], [0, 1, 0], n_neighbors=3)


def test_a_machine_reports_its_training_rows():
    X = np.array([[-2.0], [-1.0], [0.5], [1.0], [2.0]])
    machine = SupportVectorClassifier(kernel="linear", C=0.5, tol=1e-9).fit(X, [0, 0, 0, 1, 1])
    report = machine.instance_report(X, [0, 0, 0, 1, 1])
    assert isinstance(report, InstanceReport)
    signed = np.array([-1, -1, -1, 1, 1]) * machine.decision_function(X)
    assert_allclose(report.values, signed)
    assert_allclose(report.slack, np.maximum(0.0, 1.0 - signed), atol=1e-8)
