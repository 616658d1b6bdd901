"""PAC bounds: the worked numbers, and each number solved for from the others."""

import math

import pytest

from verulam.base import DataError
from verulam.theory import LearningBound, box_bound, finite_class_bound, vc_bound
from verulam.theory._bounds import _whole_above, _whole_below


def test_worked_numbers():
    loose = finite_class_bound(3**10, error=0.1, delta=0.05, method="loose")
    exact = finite_class_bound(3**10, error=0.1, delta=0.05)
    box = box_bound(error=0.1, delta=0.05, method="loose")
    assert (loose.n_samples, round(loose.value, 2)) == (140, 139.82)
    assert (exact.n_samples, round(exact.value, 2)) == (133, 132.70)
    assert (box.n_samples, round(box.value, 2)) == (176, 175.28)


def test_the_number_of_samples_is_the_least_that_meets_the_bound():
    size, error, delta = 1000, 0.07, 0.02
    count = finite_class_bound(size, error=error, delta=delta).n_samples
    assert size * (1 - error) ** count < delta <= size * (1 - error) ** (count - 1)


def test_boxes_of_more_inputs_by_the_formula():
    bound = box_bound(5, error=0.2, delta=0.1)
    assert bound.value == pytest.approx(math.log(0.1 / 10) / math.log1p(-0.02))
    assert box_bound(5, error=0.2, delta=0.1, method="loose").value == pytest.approx(
        10 / 0.2 * math.log(10 / 0.1)
    )


def test_agnostic_bound_is_hoeffdings():
    bound = finite_class_bound(500, error=0.1, delta=0.05, method="agnostic")
    assert bound.value == pytest.approx(math.log(2 * 500 / 0.05) / (2 * 0.1**2))


def test_vc_bound_is_that_of_blumer_and_others():
    count = vc_bound(3, error=0.1, delta=0.05).n_samples

    def failure(samples):
        return 2 * (2 * math.e * samples / 3) ** 3 * 2 ** (-samples * 0.1 / 2)

    assert failure(count) < 0.05 <= failure(count - 1)


@pytest.mark.parametrize("method", ["exact", "loose", "agnostic"])
def test_every_number_is_solved_for(method):
    bound = finite_class_bound(5000, error=0.1, delta=0.03, method=method)
    count = bound.n_samples
    error = finite_class_bound(5000, delta=0.03, n_samples=count, method=method).error
    delta = finite_class_bound(5000, error=0.1, n_samples=count, method=method).delta
    size = finite_class_bound(error=0.1, delta=0.03, n_samples=count, method=method).size
    assert error == pytest.approx(0.1, rel=0.01)
    assert error < 0.1
    assert 0.02 < delta < 0.03
    assert 5000 <= size < 5000 * 1.15
    back = finite_class_bound(5000, error=error, delta=0.03, method=method)
    assert back.value == pytest.approx(count)


@pytest.mark.parametrize("solve", [box_bound, vc_bound])
def test_bounds_of_infinite_classes_are_solved_for_every_number(solve):
    count = solve(4, error=0.1, delta=0.05).n_samples
    assert solve(4, delta=0.05, n_samples=count).error == pytest.approx(0.1, rel=0.02)
    assert solve(4, error=0.1, n_samples=count).delta == pytest.approx(0.05, rel=0.2)
    assert solve(None, error=0.1, delta=0.05, n_samples=count).size == 4


def test_classes_too_large_for_a_float():
    bound = finite_class_bound(3**2000, error=0.1, delta=0.05, method="loose")
    assert bound.value == pytest.approx((2000 * math.log(3) + math.log(20)) / 0.1)
    assert finite_class_bound(error=0.5, delta=0.05, n_samples=10**6).size == math.inf


def test_words():
    assert "133 examples" in str(finite_class_bound(3**10, error=0.1, delta=0.05))
    agnostic = finite_class_bound(3**10, error=0.1, delta=0.05, method="agnostic")
    assert "training error of any hypothesis" in str(agnostic)
    assert isinstance(agnostic, LearningBound)
    assert agnostic.solved == "n_samples"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"error": 0.1}, "left out: n_hypotheses, delta, n_samples"),
        ({"n_hypotheses": 3, "error": 0.1, "delta": 0.1, "n_samples": 3}, "left out: none"),
        ({"n_hypotheses": 3, "error": 1.5, "delta": 0.1}, "error must lie between"),
        ({"n_hypotheses": 3, "error": 0.1, "delta": 0.0}, "delta must lie between"),
        ({"n_hypotheses": 0, "error": 0.1, "delta": 0.1}, "n_hypotheses must be at least 1"),
        (
            {"n_hypotheses": math.nan, "error": 0.1, "delta": 0.1},
            "n_hypotheses must be a number, or None; got nan",
        ),
        ({"n_hypotheses": 9, "delta": 0.1, "n_samples": 0}, "n_samples must be at least 1"),
        ({"n_hypotheses": 9**9, "delta": 0.1, "n_samples": 2, "method": "loose"}, "too few"),
        ({"error": 0.01, "delta": 0.1, "n_samples": 2}, "too few for a class of any size"),
        ({"n_hypotheses": 3, "error": 0.1, "delta": 0.1, "method": "tight"}, "method is 'tight'"),
    ],
)
def test_bad_input_is_named(options, words):
    with pytest.raises(DataError, match=words):
        finite_class_bound(**options)


def test_whole_numbers_meet_a_strict_bound_also_where_it_is_whole():
    """What rounding leaves above or below a whole number counts as that number."""
    assert [_whole_below(value) for value in (8.0, 8 + 1e-12, 8 - 1e-12, 8.5)] == [7, 7, 7, 8]
    assert [_whole_above(value) for value in (8.0, 8 + 1e-12, 8 - 1e-12, 8.5)] == [9, 9, 9, 9]
    assert _whole_below(math.inf) == math.inf
