"""Linear programs: who can be separated, and the proof where none can."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from tests.linear.examples import AND, CORNERS, OR, XOR, overlapping, separable

from verulam.base import DataError
from verulam.linear import (
    one_versus_rest_separability,
    pairwise_separability,
    separability,
    sign_normalise,
)
from verulam.linear._training import separability as module
from verulam.linear._training.separability import (
    dual_program,
    own_slack_program,
    shared_slack_program,
)


@pytest.mark.parametrize(("classes", "expected"), [(AND, True), (OR, True), (XOR, False)])
def test_boolean_functions(classes, expected):
    assert separability(CORNERS, classes).separable is expected


def test_fourteen_of_sixteen_functions_of_two_inputs_are_separable():
    tables = [[code >> row & 1 for row in range(4)] for code in range(16)]
    answers = [len(set(table)) == 1 or bool(separability(CORNERS, table)) for table in tables]
    assert sum(answers) == 14
    assert [tables[code] for code in np.flatnonzero(~np.array(answers))] == [
        [0, 1, 1, 0],
        [1, 0, 0, 1],
    ]


def test_the_plane_found_separates_with_its_margin():
    rows, classes = separable()
    answer = separability(rows, classes)
    distances = (rows @ answer.weights + answer.bias) / np.linalg.norm(answer.weights)
    signed = np.where(classes == 1, distances, -distances)
    assert signed.min() == pytest.approx(answer.margin)
    assert answer.margin > 0
    assert answer.certificate is None


def test_the_certificate_mixes_the_classes_into_one_point():
    rows, classes = overlapping()
    proof = separability(rows, classes).certificate
    assert (proof >= 0).all()
    assert [proof[classes == label].sum() for label in (0, 1)] == pytest.approx([1.0, 1.0])
    mixtures = [proof[classes == label] @ rows[classes == label] for label in (0, 1)]
    assert np.allclose(*mixtures)


def test_scale_of_the_inputs_does_not_change_the_answer():
    rows, classes = separable(gap=0.2)
    scales = np.array([1e-6, 1.0, 1e6])
    assert separability(rows * scales, classes).separable
    overlapped, labels = overlapping()
    assert not separability(overlapped * scales, labels).separable


def test_sparse_rows_give_the_same_answer():
    rows, classes = separable()
    assert separability(sp.csr_array(rows), classes).margin == pytest.approx(
        separability(rows, classes).margin
    )


def test_pairs_may_be_separable_where_one_class_against_the_rest_is_not():
    line = np.array([[0.0], [1.0], [2.0]])
    pairs = pairwise_separability(line, ["a", "b", "c"])
    assert list(pairs) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(pairs.values())
    assert not separability(line, [0, 1, 0])


@pytest.mark.parametrize("margins", [None, np.linspace(0.5, 3.0, 60)], ids=["ones", "others"])
def test_programs_agree_with_the_plain_form_and_with_their_dual(margins):
    rows, classes = overlapping(60)
    signed = sign_normalise(rows, classes == 1)
    n_rows = len(signed)
    bounds = np.ones(n_rows) if margins is None else margins
    # Weights split into two parts that are not negative, as the text writes it.
    table = np.hstack([signed, -signed, np.eye(n_rows)])
    plain = linprog(np.r_[np.zeros(8), np.ones(n_rows)], A_ub=-table, b_ub=-bounds)
    primal, dual = own_slack_program(signed, margins), dual_program(signed, margins)
    assert primal.objective == pytest.approx(plain.fun)
    assert dual.objective == pytest.approx(plain.fun)
    assert dual.slacks.sum() == pytest.approx(plain.fun)
    shortfall = np.maximum(bounds - signed @ primal.weights, 0.0)
    assert shortfall.sum() == pytest.approx(primal.objective)
    assert np.allclose(primal.dual @ signed, 0.0, atol=1e-8)


def test_own_margins_are_reached():
    rows, classes = separable()
    signed = sign_normalise(rows, classes == 1)
    margins = np.random.default_rng(0).uniform(1, 2, size=len(rows))
    answer = shared_slack_program(signed, margins)
    assert answer.objective == pytest.approx(0.0, abs=1e-9)
    assert (signed @ answer.weights >= margins - 1e-7).all()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_each_row_may_have_a_margin_of_its_own(unit):
    margins = unit * np.random.default_rng(0).uniform(1, 50, size=60)
    rows, classes = separable()
    answer = separability(rows, classes, margins=margins)
    products = np.where(classes == 1, 1, -1) * (rows @ answer.weights + answer.bias)
    assert answer.separable is True
    assert (products >= margins * (1 - 1e-6)).all()
    assert products.min() / np.linalg.norm(answer.weights) == pytest.approx(answer.margin)
    overlapped, labels = overlapping(60)
    proof = separability(overlapped, labels, margins=margins)
    signed = sign_normalise(overlapped, labels == 1)
    assert proof.separable is False
    assert proof.shortfall == pytest.approx(
        unit * shared_slack_program(signed, margins / unit).objective
    )
    assert np.allclose(proof.certificate @ signed, 0.0)


def test_margins_do_not_change_the_answer():
    for table in ([0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1]):
        for seed in range(3):
            margins = np.random.default_rng(seed).uniform(0.1, 10, size=4)
            answer = separability(CORNERS, table, margins=margins)
            assert answer.separable is separability(CORNERS, table).separable


@pytest.mark.parametrize(
    ("margins", "message"),
    [([1.0, 2.0], "4 positive numbers"), ([1.0, 1.0, 0.0, 1.0], "got 0 at row 2")],
)
def test_margins_must_be_positive_and_as_many_as_rows(margins, message):
    with pytest.raises(DataError, match=message):
        separability(CORNERS, AND, margins=margins)


def test_other_than_two_classes_are_refused():
    with pytest.raises(DataError, match="two classes"):
        separability(CORNERS, [0, 1, 2, 0])


def test_each_class_against_the_rest():
    rows = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 2.0]]
    answer = one_versus_rest_separability(rows, ["a", "b", "c", "d"])
    assert {name: bool(answer) for name, answer in answer.items()} == {
        "a": True,
        "b": False,
        "c": True,
        "d": True,
    }


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ([[0.0], [np.nan]], [0, 1], "missing or infinite"),
        ([0.0, 1.0], [0, 1], "one row for each instance"),
        ([[0.0], [1.0]], [0, 1, 1], "2 entries, one for each row"),
    ],
)
def test_tables_that_cannot_be_judged_are_refused(rows, labels, message):
    with pytest.raises(DataError, match=message):
        separability(rows, labels)


@pytest.mark.parametrize("compress", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [1e4, 1e8, 1e12])
def test_an_offset_of_the_inputs_does_not_change_the_answer(offset, compress):
    rows, classes = separable(gap=0.2)
    answer = separability(compress(rows + offset), classes)
    assert answer.separable is True
    assert answer.margin > 0.01
    overlapped, labels = overlapping()
    proof = separability(compress(overlapped + offset), labels)
    assert proof.separable is False
    mixtures = [
        proof.certificate[labels == label] @ overlapped[labels == label] for label in (0, 1)
    ]
    assert np.allclose(*mixtures, atol=1e-3)


def test_a_narrow_gap_is_never_called_none():
    for gap in (1e-6, 1e-8, 1e-10, 1e-12):
        line = np.array([[0.0], [1.0], [1.0 + gap], [2.0]])
        assert separability(line, [0, 0, 1, 1]).separable is not False


def test_a_touch_is_no_gap():
    assert separability([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]).separable is False


def test_a_solver_that_fails_decides_nothing(monkeypatch):
    class Failure:
        x, message = None, "numerical trouble."

    monkeypatch.setattr(module, "linprog", lambda *_, **__: Failure())
    answer = separability(CORNERS, AND)
    assert answer.separable is None
    assert not answer
    with pytest.raises(DataError, match=r"could not be solved \(numerical trouble\)"):
        own_slack_program(sign_normalise(CORNERS, AND == 1))


def test_large_certificates_are_left_as_the_solver_found_them(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("polished")

    monkeypatch.setattr(np.linalg, "lstsq", refuse)
    rows, classes = overlapping()
    with pytest.raises(AssertionError, match="polished"):
        separability(rows, classes)
    # A mixture of two points has at least so many active rows, each of four columns.
    monkeypatch.setattr(module, "_MOST_TO_POLISH", 7)
    answer = separability(rows, classes)
    assert answer.separable is False
    assert [answer.certificate[classes == label].sum() for label in (0, 1)] == pytest.approx([1, 1])
