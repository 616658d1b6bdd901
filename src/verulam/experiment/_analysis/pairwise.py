"""Which pairs of contestants differ: the paired test that the design allows, and its reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam import statistics
from verulam.base import DataError
from verulam.experiment._resampling.kinds import INDEPENDENT
from verulam.statistics import Choice, TestResult, adjust_p_values, choose_test

if TYPE_CHECKING:
    from verulam.measures import Measure

#: Names of the kinds of resampling among the designs of the chooser of tests.
DESIGNS = {"holdout": "hold-out", "5x2": "5x2", "k-fold": "k-fold", "leave-one-out": "k-fold"}
INDEPENDENT_PARTS = Choice(
    "t_test", "parts share no rows, so that their results are independent", ("nearly normal",)
)
INDEPENDENT_SEEDS = Choice(
    "t_test", "agents meet the same seeds, which are independent of one another", ("nearly normal",)
)
#: The tests of Dietterich and Alpaydin are made for five halvings, neither fewer nor more.
FIVE_BY_TWO_RESULTS = 10
#: What each validated row contributes to the score of a contestant; None where it has none.
RowLosses = Callable[[str], np.ndarray | None]
ASKED = "what the test that was asked for takes for granted"


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


def kind_of_measure(measure: "Measure") -> Any:
    """Return what the chooser of tests calls a measure."""
    if measure.name in ("error", "accuracy"):
        return "error"
    return "area" if measure.name == "auc" else "number"


def choose_pair_test(resampling: str, measure: "Measure", splits: int) -> Choice | None:
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
    # A single split has one score, but as many losses as rows.
    if splits == 1:
        choices = choose_test("compare", "hold-out", measure=kind_of_measure(measure))
        return choices[0] if measure.rows is not None else None
    if splits == 0:
        return None
    if resampling in INDEPENDENT:
        return INDEPENDENT_SEEDS if resampling == "seeds" else INDEPENDENT_PARTS
    design: Any = DESIGNS.get(resampling, "repeated")
    # A 5x2 design with gaps has lost its form: what is left are repeated splits.
    if design == "hold-out" or (design == "5x2" and splits != FIVE_BY_TWO_RESULTS):
        design = "repeated"
    return choose_test("compare", design, measure=kind_of_measure(measure), replications=splits)[0]


def compare_pairs(
    table: pd.DataFrame,
    *,
    resampling: str,
    measure: "Measure",
    test_share: float,
    alpha: float,
    row_losses: RowLosses,
    test: str | None = None,
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
    row_losses
        Gives what each validated row contributes to a contestant's score, for a single split.
    test
        One of `PAIR_TESTS`; None takes the one that the design suggests.
    """
    # As plain arrays: taking columns of a table for every pair takes longer than the tests.
    scores = dict(zip(table.columns, table.to_numpy(dtype=np.float64).T, strict=True))
    rows, results, choice = [], {}, None
    for first, second in combinations(table.columns, 2):
        both = np.isfinite(scores[first]) & np.isfinite(scores[second])
        one, other = scores[first][both], scores[second][both]
        pair_test = _choice(test, resampling, measure, len(one))
        # Rows are taken over all splits, which both contestants must have.
        if pair_test is not None and len(one) == 1 and len(table) > 1:
            pair_test = None
        result, p_value = None, np.nan
        if pair_test is not None:
            choice = choice or pair_test
            if len(one) == 1:
                result, p_value = _tested_rows(
                    pair_test, row_losses(first), row_losses(second), alpha
                )
            else:
                result, p_value = _tested_splits(pair_test, one, other, test_share, alpha)
        if result is not None:
            results[first, second] = result
        difference = float(one.mean() - other.mean()) if len(one) else np.nan
        rows.append((first, second, difference, len(one), p_value))
    columns = ["first", "second", "difference", "splits", "p_value"]
    return Pairs(decided(pd.DataFrame(rows, columns=columns), alpha), choice, results)


def _choice(test: str | None, resampling: str, measure: "Measure", splits: int) -> Choice | None:
    """Return the test that was asked for, or the one that the design suggests."""
    if test is None:
        return choose_pair_test(resampling, measure, splits)
    fits = {
        "mcnemar": splits == 1 and kind_of_measure(measure) == "error",
        "permutation_test": splits > 1 or (splits == 1 and measure.rows is not None),
        "five_by_two_f_test": resampling == "5x2" and splits == FIVE_BY_TWO_RESULTS,
        "five_by_two_t_test": resampling == "5x2" and splits == FIVE_BY_TWO_RESULTS,
    }
    return Choice(test, "it was asked for", (ASKED,)) if fits.get(test, splits > 1) else None


def decided(pairs: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return the pairs with p-values adjusted after Holm, and the decision in words."""
    tested = pairs["p_value"].notna()
    pairs = pairs.assign(adjusted_p=np.nan, decision="not tested")
    if tested.any():
        # Holm's procedure holds the familywise level, however the tests depend on one another.
        adjusted = adjust_p_values(pairs.loc[tested, "p_value"].to_numpy(), "holm")
        pairs.loc[tested, "adjusted_p"] = adjusted
        words = np.where(adjusted < alpha, "reject", "fail to reject")
        pairs.loc[tested, "decision"] = words
    return pairs


def _tested_splits(
    choice: Choice, first: np.ndarray, second: np.ndarray, test_share: float, alpha: float
) -> tuple[TestResult | None, float]:
    differences = first - second
    # Without variance there is no t: what is left is the chance that all signs agree.
    if np.ptp(differences) <= 1e-12 * max(1.0, np.abs(differences).max()):
        same = np.allclose(differences, 0.0, atol=1e-12)
        return None, 1.0 if same else 2.0 ** (1 - len(differences))
    # The 5x2 tests want a row for each replication.
    halves = [scores.reshape(5, 2) if len(scores) == 10 else scores for scores in (first, second)]
    tests: dict[str, Callable[[], TestResult]] = {
        "five_by_two_f_test": lambda: statistics.five_by_two_f_test(*halves, alpha=alpha),
        "five_by_two_t_test": lambda: statistics.five_by_two_t_test(*halves, alpha=alpha),
        "t_test": lambda: statistics.t_test(differences, 0.0, alpha=alpha),
        "cv_t_test": lambda: statistics.cv_t_test(first, second, alpha=alpha),
        "calibrated_t_test": lambda: statistics.calibrated_t_test(
            first, second, test_share=test_share, alpha=alpha
        ),
        "permutation_test": lambda: statistics.permutation_test(
            first, second, alpha=alpha, random_state=0
        ),
        "corrected_t_test": lambda: statistics.corrected_t_test(
            first, second, test_share=test_share, alpha=alpha
        ),
    }
    try:
        result = tests[choice.function]()
    except DataError:  # such as both halves that always differ alike
        return None, np.nan
    return result, result.p_value


def _tested_rows(
    choice: Choice, first: np.ndarray | None, second: np.ndarray | None, alpha: float
) -> tuple[TestResult | None, float]:
    """Test two contestants on what the same rows contribute to their scores."""
    assert first is not None
    assert second is not None
    # No row tells them apart: there is nothing to permute, and no chance to be ruled out.
    if np.array_equal(first, second):
        return None, 1.0
    if choice.function != "mcnemar":
        result = statistics.permutation_test(first, second, alpha=alpha, random_state=0)
        return result, result.p_value
    only_first, only_second = int((first > second).sum()), int((second > first).sum())
    # Fewer discordant rows are too few for the chi-square approximation.
    method = "exact" if only_first + only_second < 25 else "chi-square"
    result = statistics.mcnemar(only_first, only_second, method=method, alpha=alpha)
    return result, result.p_value
