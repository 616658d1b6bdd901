"""Which pairs of contestants differ: the paired test that the design allows, and its reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from verulam import statistics
from verulam.base import DataError
from verulam.measures import Measure
from verulam.statistics import Choice, TestResult, adjust_p_values, choose_test

#: Names of the kinds of resampling among the designs of the chooser of tests.
DESIGNS = {"holdout": "hold-out", "5x2": "5x2", "k-fold": "k-fold", "leave-one-out": "k-fold"}
INDEPENDENT_PARTS = Choice(
    "t_test", "parts share no rows, so that their results are independent", ("nearly normal",)
)
FIVE_BY_TWO_RESULTS = 10


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair of contestants, tested on the splits that both have.

    Attributes
    ----------
    table
        One row per pair: first, second, difference of the means, splits, p_value, adjusted_p
        (after Holm), decision.
    choice
        The test and why; None where the design allows none.
    results
        The tests, by pair.
    """

    table: pd.DataFrame
    choice: Choice | None
    results: Mapping[tuple[str, str], TestResult]


def kind_of_measure(measure: Measure) -> Any:
    """Return what the chooser of tests calls a measure."""
    if measure.name in ("error", "accuracy"):
        return "error"
    return "area" if measure.name == "auc" else "number"


def choose_pair_test(resampling: str, measure: Measure, splits: int) -> Choice | None:
    """Return the paired test for a kind of resampling, or None.

    Parameters
    ----------
    resampling
        Kind of resampling.
    measure
        What was measured.
    splits
        Number of splits that both contestants have.

    Examples
    --------
    >>> from verulam.measures import measure
    >>> choose_pair_test("5x2", measure("error"), 10).function
    'five_by_two_f_test'
    >>> choose_pair_test("5x2", measure("error"), 9).function
    'corrected_t_test'
    """
    if splits == 1:
        choices = choose_test("compare", "hold-out", measure=kind_of_measure(measure))
        return choices[0] if choices[0].function == "mcnemar" else None
    if splits == 0:
        return None
    if resampling == "disjoint":
        return INDEPENDENT_PARTS
    design: Any = DESIGNS.get(resampling, "repeated")
    if design == "hold-out" or (design == "5x2" and splits != FIVE_BY_TWO_RESULTS):
        design = "repeated"
    return choose_test("compare", design, measure=kind_of_measure(measure), replications=splits)[0]


def compare_pairs(
    table: pd.DataFrame,
    *,
    resampling: str,
    measure: Measure,
    test_share: float,
    alpha: float,
    wrong: Callable[[str], np.ndarray],
) -> Pairs:
    """Test every pair of contestants on the splits that both have.

    Parameters
    ----------
    table
        Scores: a row per split, a column per contestant.
    resampling
        Kind of resampling.
    measure
        What was measured.
    test_share
        Share of the validation rows in a split.
    alpha
        Overall level of significance.
    wrong
        Gives whether a contestant errs on each validated row, for a single split.
    """
    rows, results, choice = [], {}, None
    for first, second in combinations(table.columns, 2):
        shared = table[[first, second]].dropna()
        chosen = choose_pair_test(resampling, measure, len(shared))
        # Rows are counted over all splits, which both contestants must have.
        if chosen is not None and chosen.function == "mcnemar" and len(table) > 1:
            chosen = None
        result, p_value = None, np.nan
        if chosen is not None:
            choice = choice or chosen
            if chosen.function == "mcnemar":
                result, p_value = _tested_rows(wrong(first), wrong(second), alpha)
            else:
                result, p_value = _tested_splits(chosen, shared, test_share, alpha)
        if result is not None:
            results[first, second] = result
        difference = float(shared[first].mean() - shared[second].mean())
        rows.append((first, second, difference, len(shared), p_value))
    columns = ["first", "second", "difference", "splits", "p_value"]
    return Pairs(decided(pd.DataFrame(rows, columns=columns), alpha), choice, results)


def decided(pairs: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return the pairs with p-values adjusted after Holm, and the decision in words."""
    tested = pairs["p_value"].notna()
    pairs = pairs.assign(adjusted_p=np.nan, decision="not tested")
    if tested.any():
        adjusted = adjust_p_values(pairs.loc[tested, "p_value"].to_numpy(), "holm")
        pairs.loc[tested, "adjusted_p"] = adjusted
        words = np.where(adjusted < alpha, "reject", "fail to reject")
        pairs.loc[tested, "decision"] = words
    return pairs


def _tested_splits(
    choice: Choice, shared: pd.DataFrame, test_share: float, alpha: float
) -> tuple[TestResult | None, float]:
    first, second = shared.to_numpy().T
    differences = first - second
    # Without variance there is no statistic: equal everywhere, or different everywhere alike.
    if np.ptp(differences) <= 1e-12 * max(1.0, np.abs(differences).max()):
        return None, 1.0 if np.allclose(differences, 0.0, atol=1e-12) else 0.0
    if choice.function == "five_by_two_f_test":
        try:
            result = statistics.five_by_two_f_test(
                first.reshape(5, 2), second.reshape(5, 2), alpha=alpha
            )
        except DataError:  # both halves always differ alike
            return None, np.nan
    elif choice.function == "t_test":
        result = statistics.t_test(differences, 0.0, alpha=alpha)
    else:
        result = statistics.corrected_t_test(first, second, test_share=test_share, alpha=alpha)
    return result, result.p_value


def _tested_rows(
    first: np.ndarray, second: np.ndarray, alpha: float
) -> tuple[TestResult | None, float]:
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    if only_first + only_second == 0:
        return None, 1.0
    method = "exact" if only_first + only_second < 25 else "chi-square"
    result = statistics.mcnemar(only_first, only_second, method=method, alpha=alpha)
    return result, result.p_value
