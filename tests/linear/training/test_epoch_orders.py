"""Orders of passes: every row once, never the same twice."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from tests.linear.examples import overlapping

from verulam.linear._training import epoch_orders as _orders
from verulam.linear._training.epoch_orders import orders, shuffled_once
from verulam.linear._training.two_class_problem import Problem


@pytest.fixture(params=["small", "large"])
def problem(request, monkeypatch):
    monkeypatch.setattr(_orders, "SMALL_TABLE_BYTES", 10 if request.param == "large" else 10**9)
    rows, classes = overlapping(500)
    return Problem(rows, np.where(classes == 1, 1.0, -1.0))


def test_every_pass_sees_every_row_once_in_a_new_order(problem):
    found = list(islice(orders(problem, np.random.default_rng(0)), 4))
    for order in found:
        assert np.array_equal(np.sort(order), np.arange(500))
    assert len({tuple(order) for order in found}) == 4


def test_without_chance_the_rows_stay_in_place(problem):
    assert shuffled_once(problem, None) is problem
    first, second = islice(orders(problem, None), 2)
    assert np.array_equal(first, np.arange(500))
    assert np.array_equal(second, np.arange(500))


def test_rows_signs_and_margins_are_shuffled_together(problem):
    problem = replace(problem, margins=problem.inputs[:, 0] ** 2)
    shuffled = shuffled_once(problem, np.random.default_rng(0))
    before, after = (
        {(*row, sign) for row, sign in zip(each.inputs, each.signs, strict=True)}
        for each in (problem, shuffled)
    )
    assert before == after
    assert np.array_equal(shuffled.margins, shuffled.inputs[:, 0] ** 2)


def test_large_tables_are_read_by_blocks(monkeypatch):
    monkeypatch.setattr(_orders, "SMALL_TABLE_BYTES", 10)
    rows, classes = overlapping(5000)
    problem = Problem(rows, np.where(classes == 1, 1.0, -1.0))
    order = next(orders(problem, np.random.default_rng(0)))
    assert np.mean(np.diff(order) == 1) > 0.95
