"""Orders of learners: by complexity where nothing rejects, by error where tests can tell."""

import numpy as np
import pandas as pd
import pytest

from verulam.statistics import LearnerOrder, cv_t_test, multitest_order, wilcoxon_test

NOISE = np.random.default_rng(8).normal(size=(12, 4)) / 200


def test_without_rejection_the_order_is_complexity():
    order = multitest_order(NOISE * 1e-3 + 0.2 + NOISE, [3, 1, 4, 2])
    assert order.order == ("learner 2", "learner 4", "learner 1", "learner 3")
    assert not order.better.to_numpy().any()


def test_clear_differences_order_by_error():
    table = pd.DataFrame(NOISE + np.array([0.4, 0.3, 0.2, 0.1]), columns=list("abcd"))
    order = multitest_order(table)
    assert order.order == ("d", "c", "b", "a")
    assert order.best == "d"
    assert order.better.loc["d", "a"]
    assert str(order) == "Order from best to worst: d < c < b < a."


def test_a_learner_that_is_not_better_must_be_simpler():
    """Exercise 7: of three, the costly one must prove itself; ties go to the simple one."""
    table = NOISE[:, :3] + [0.2, 0.2, 0.1]
    assert multitest_order(table).order == ("learner 3", "learner 1", "learner 2")
    assert multitest_order(table, [1, 0, 2]).order == ("learner 3", "learner 2", "learner 1")


def test_number_of_tests():
    count = multitest_order(NOISE).p_values.notna().to_numpy().sum()
    assert count == 4 * 3 / 2
    assert multitest_order(NOISE, directions="both").p_values.notna().to_numpy().sum() == 12


def test_both_directions_keep_a_beaten_learner_behind():
    # Complexity a < b < c; c beats a, and a beats b.
    table = NOISE[:, :3] + [0.2, 0.3, 0.1]
    order = multitest_order(table, directions="both")
    assert order.order == ("learner 3", "learner 1", "learner 2")


def test_direction_and_other_tests():
    table = NOISE + np.array([0.1, 0.2, 0.3, 0.4])
    assert multitest_order(table, greater_is_better=True).best == "learner 4"
    for test in (cv_t_test, wilcoxon_test):
        assert multitest_order(-table, test=test).best == "learner 4"


def test_constant_differences_count_as_equal():
    table = np.column_stack([NOISE[:, 0], NOISE[:, 0] - 0.1])
    order = multitest_order(table)
    assert order.order == ("learner 1", "learner 2")
    assert "1 pairs have constant differences" in order.caveats[0]


def test_contradictions_are_reported():
    def rock_paper_scissors(first, second, alternative, alpha):
        beats = {(1, 0), (2, 1), (0, 2)}
        test = cv_t_test(NOISE[:, 0], NOISE[:, 1])
        key = round(first[0]), round(second[0])
        return type(test)("", "", "", 0.0, "", 0.001 if key in beats else 0.9)

    table = np.round(NOISE[:, :3]) + [0, 1, 2] + np.linspace(0, 0.4, 12)[:, None] * [0, 1, -1]
    order = multitest_order(table, test=rock_paper_scissors, directions="both")
    assert "in a circle" in order.caveats[0]
    assert sorted(order.order) == ["learner 1", "learner 2", "learner 3"]


@pytest.mark.parametrize("adjust", ["none", "bonferroni"])
def test_adjustment_is_applied(adjust):
    raw = multitest_order(NOISE, adjust="none").p_values.to_numpy()
    p_values = multitest_order(NOISE, adjust=adjust).p_values.to_numpy()
    factor = 6 if adjust == "bonferroni" else 1
    np.testing.assert_allclose(p_values, np.minimum(1, raw * factor))


def test_the_best_is_the_first_of_the_order():
    order = LearnerOrder(("b", "a"), pd.DataFrame(), pd.DataFrame())
    assert order.best == "b"
