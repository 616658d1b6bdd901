"""The paired tests: the one that the design allows, equal to a direct call of it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from verulam import statistics
from verulam.experiment._analysis.pairwise import (
    choose_pair_test,
    compare_pairs,
    decided,
    kind_of_measure,
)
from verulam.measures import as_measure

ERROR = as_measure("error")
RNG = np.random.default_rng(2)
TABLE = pd.DataFrame(RNG.normal(0.2, 0.02, size=(10, 3)), columns=["a", "b", "c"])
TABLE["c"] += 0.1


def compared(table, resampling="k-fold", measure=ERROR, row_losses=None):
    return compare_pairs(
        table,
        resampling=resampling,
        measure=measure,
        test_share=0.1,
        alpha=0.05,
        row_losses=row_losses,
    )


@pytest.mark.parametrize(
    ("resampling", "splits", "function"),
    [
        ("k-fold", 10, "corrected_t_test"),
        ("leave-one-out", 150, "corrected_t_test"),
        ("5x2", 10, "five_by_two_f_test"),
        ("5x2", 8, "corrected_t_test"),
        ("bootstrap", 100, "corrected_t_test"),
        ("holdout", 5, "corrected_t_test"),
        ("holdout", 1, "mcnemar"),
        ("disjoint", 10, "t_test"),
    ],
)
def test_choice(resampling, splits, function):
    assert choose_pair_test(resampling, ERROR, splits).function == function


def test_no_choice():
    assert choose_pair_test("k-fold", ERROR, 0) is None
    assert choose_pair_test("holdout", as_measure("auc"), 1) is None


def test_kinds_of_measures():
    assert kind_of_measure(as_measure("accuracy")) == "error"
    assert kind_of_measure(as_measure("auc")) == "area"
    assert kind_of_measure(as_measure("r2")) == "number"


def test_corrected_t_with_holm():
    found = compared(TABLE).table
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    raw = [
        statistics.corrected_t_test(TABLE[one], TABLE[other], test_share=0.1).p_value
        for one, other in pairs
    ]
    np.testing.assert_allclose(found["p_value"], raw)
    np.testing.assert_allclose(found["adjusted_p"], statistics.adjust_p_values(raw, "holm"))
    assert found["decision"].tolist() == ["fail to reject", "reject", "reject"]
    np.testing.assert_allclose(found["difference"].iloc[0], (TABLE["a"] - TABLE["b"]).mean())


def test_five_by_two():
    found = compared(TABLE[["a", "c"]], "5x2")
    expected = statistics.five_by_two_f_test(TABLE["a"], TABLE["c"])
    assert found.results["a", "c"].p_value == expected.p_value


def test_independent_parts():
    found = compared(TABLE[["a", "c"]], "disjoint").table
    assert found["p_value"].iloc[0] == pytest.approx(stats.ttest_rel(TABLE["a"], TABLE["c"]).pvalue)


def test_only_shared_splits():
    table = TABLE.copy()
    table.loc[[0, 1], "b"] = np.nan
    found = compared(table).table
    assert found["splits"].tolist() == [8, 10, 8]
    expected = statistics.corrected_t_test(table["a"][2:], table["b"][2:], test_share=0.1)
    assert found["p_value"].iloc[0] == expected.p_value


@pytest.mark.parametrize(("shift", "p_value"), [(0.0, 1.0), (0.1, 2.0**-9)])
def test_no_variance(shift, p_value):
    table = pd.DataFrame({"a": TABLE["a"], "b": TABLE["a"] + shift})
    assert compared(table).table["p_value"].tolist() == [p_value]


def test_mcnemar_counts_rows():
    wrong = {"a": np.repeat([1.0, 0.0], [15, 85]), "b": np.repeat([0.0, 1.0], [95, 5])}
    table = pd.DataFrame({"a": [0.15], "b": [0.05]})
    found = compared(table, "holdout", row_losses=wrong.get).table
    expected = statistics.mcnemar(15, 5, method="exact").p_value
    assert found["p_value"].tolist() == [expected]


def test_mcnemar_without_disagreement():
    wrong = np.array([1.0, 0.0])
    table = pd.DataFrame({"a": [0.5], "b": [0.5]})
    assert compared(table, "holdout", row_losses=lambda name: wrong).table["p_value"].tolist() == [
        1.0
    ]


def test_losses_of_one_split_are_exchanged_row_by_row():
    random = np.random.default_rng(0)
    losses = {"a": random.exponential(2.0, 50), "b": random.exponential(1.0, 50)}
    table = pd.DataFrame({name: [each.mean()] for name, each in losses.items()})
    found = compared(table, "holdout", as_measure("log_loss"), losses.get)
    assert found.choice.function == "permutation_test"
    expected = statistics.permutation_test(losses["a"], losses["b"], random_state=0).p_value
    assert found.table["p_value"].tolist() == [expected]
    assert expected < 0.05


def test_untested_pairs_are_said_to_be_so():
    pairs = pd.DataFrame({"p_value": [0.01, np.nan]})
    assert decided(pairs, 0.05)["decision"].tolist() == ["reject", "not tested"]
