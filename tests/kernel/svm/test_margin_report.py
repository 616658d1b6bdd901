"""Cases of instances about a margin and about a tube."""

import numpy as np
from numpy.testing import assert_allclose

from verulam.kernel import margin_report, tube_report


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
