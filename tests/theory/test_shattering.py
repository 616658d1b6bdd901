"""Shattering: points and labelings tried one by one, certificates checked."""

import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.theory import Shattering, VCDimension, n_dichotomies, shatters, vc_dimension

CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_three_points_are_shattered_by_lines_and_no_four_are():
    assert shatters([[0, 0], [1, 0], [0, 1]])
    random = np.random.default_rng(0)
    for points in random.normal(size=(30, 4, 2)):
        answer = shatters(points)
        assert not answer
        assert answer.realised.sum() == 14
    assert shatters([[0, 0], [1, 1], [2, 2]]).realised.sum() == 6


@pytest.mark.parametrize("n_inputs", [1, 2, 3])
def test_certificates_prove_what_they_claim(n_inputs):
    points = np.random.default_rng(1).normal(size=(n_inputs + 2, n_inputs))
    answer = shatters(points)
    shares, labels = answer.certificate, answer.missing
    assert (shares >= -1e-12).all()
    assert shares[labels].sum() == pytest.approx(1)
    assert shares[~labels].sum() == pytest.approx(1)
    np.testing.assert_allclose(
        shares[labels] @ points[labels], shares[~labels] @ points[~labels], atol=1e-9
    )


def test_labelings_are_those_that_some_direction_orders():
    points = np.random.default_rng(2).normal(size=(5, 2))
    angles = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    orders = np.argsort(points @ [np.cos(angles), np.sin(angles)], axis=0).T
    # A line at right angles to a direction has the points before some place on one side.
    possible = {
        tuple(np.isin(np.arange(5), order[place:]).tolist())
        for order in np.unique(orders, axis=0)
        for place in range(6)
    }
    answer = shatters(points)
    assert set(map(tuple, answer.labelings[answer.realised].tolist())) == possible
    assert len(possible) == n_dichotomies(5, 2) == 22


def test_boxes():
    assert shatters([[1, 0], [-1, 0], [0, 1], [0, -1]], "box")
    random = np.random.default_rng(3)
    for points in random.normal(size=(30, 5, 2)):
        answer = shatters(points, "box")
        assert not answer
        negative = int(np.flatnonzero(answer.certificate)[0])
        positives = points[answer.missing]
        assert not answer.missing[negative]
        assert (points[negative] >= positives.min(axis=0)).all()
        assert (points[negative] <= positives.max(axis=0)).all()
    assert shatters(CORNERS, "box").realised.sum() == 1 + 4 + 4 + 1


@pytest.mark.parametrize(
    ("hypotheses", "n_inputs"), [("hyperplane", 1), ("hyperplane", 3), ("box", 1), ("box", 3)]
)
def test_witnesses_are_shattered(hypotheses, n_inputs):
    dimension = vc_dimension(hypotheses, n_inputs)
    expected = n_inputs + 1 if hypotheses == "hyperplane" else 2 * n_inputs
    assert dimension.lower == dimension.upper == len(dimension.witness) == expected
    assert shatters(dimension.witness, hypotheses)


def test_a_class_of_ones_own():
    def positive_half_line(points, labels):
        return labels.sum() == 0 or points[labels].min() > points[~labels].max(initial=-np.inf)

    dimension = vc_dimension(positive_half_line, 1, n_trials=20)
    assert isinstance(dimension, VCDimension)
    assert (dimension.lower, dimension.upper) == (1, None)
    assert "none of 20 random sets of 2 points" in str(dimension)
    everything = vc_dimension(lambda points, labels: True, 1, n_trials=2, max_points=3)
    assert everything.lower == 3
    assert "larger ones were not tried" in str(everything)
    answer = shatters([[0.0], [1.0]], positive_half_line)
    assert isinstance(answer, Shattering)
    assert answer.missing.tolist() == [True, False]
    assert answer.certificate is None


def test_words():
    assert str(shatters([[0, 0], [1, 0], [0, 1]])) == "Shattered: all 8 labelings are realised."
    assert "VC dimension 3" in str(vc_dimension())


def test_bad_input_is_named():
    with pytest.raises(DataError, match="17 points have 131,072 labelings"):
        shatters(np.zeros((17, 2)))
    with pytest.raises(DataError, match="finite numbers"):
        shatters([[np.nan, 1.0]])
    with pytest.raises(DataError, match="points must be a table of finite numbers"):
        shatters([1.0, 2.0])
    with pytest.raises(UnknownNameError, match="hyperplan"):
        shatters(CORNERS, "hyperplan")
    with pytest.raises(DataError, match="at least 1"):
        n_dichotomies(0, 2)
    with pytest.raises(DataError, match="at least 1"):
        vc_dimension("box", 0)
