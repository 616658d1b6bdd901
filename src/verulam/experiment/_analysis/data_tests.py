"""What the tests say over all data sets."""

import numpy as np
import pandas as pd

from verulam import statistics
from verulam.base import DataError
from verulam.experiment._analysis.pairwise import decided
from verulam.experiment._evidence.verdict import Verdict, assumptions_of, protected, with_winners
from verulam.experiment._store.responses import Responses
from verulam.statistics import choose_test

#: Fewest data sets for which a test over them can reject, for two and for more contestants.
FEWEST_FOR_TWO, FEWEST_FOR_MANY = 6, 3
#: More contestants than this are counted, not named.
MOST_NAMED = 3
PAIR_COLUMNS = [
    "first",
    "second",
    "difference",
    "splits",
    "p_value",
    "adjusted_p",
    "better",
    "worse",
]


def verdict_over_data(
    responses: Responses, *, alpha: float, procedure: str | None = None
) -> Verdict | None:
    """Return what the tests say over all data sets; None where there is one or no result.

    Parameters
    ----------
    responses
        The scores.
    alpha
        Level of significance.
    procedure
        How pairs of three or more contestants are compared: the `post_hoc` of
        `verulam.statistics.compare_many`, or None for its default.
    """
    table = responses.by_data().dropna(how="all")
    if len(responses.data) < 2 or table.empty:
        return None
    gaps = table.columns[table.isna().any()].tolist()
    notes = _about_gaps(gaps)
    table = table.drop(columns=gaps)
    if table.shape[1] == 0:
        return None
    scope, nothing = "all data sets", pd.DataFrame(columns=[*PAIR_COLUMNS, "decision"])
    if table.shape[1] == 1:
        return Verdict(scope, str(table.columns[0]), nothing, notes=tuple(notes))
    greater = responses.measure.greater_is_better
    best = str(statistics.average_ranks(table, greater_is_better=greater).index[0])
    two = table.shape[1] == 2
    fewest = FEWEST_FOR_TWO if two else FEWEST_FOR_MANY
    if len(table) < fewest:
        notes.append(
            f"{len(table)} data sets are too few for a test over data sets, which needs {fewest}."
        )
        return Verdict(scope, best, nothing, notes=tuple(notes))
    try:
        if two:
            return _two_over_data(table, responses, alpha, best, tuple(notes))
        return _many_over_data(table, responses, alpha, best, tuple(notes), procedure)
    except DataError as error:
        return Verdict(scope, best, nothing, notes=(*notes, str(error)))


def _about_gaps(gaps: list[str]) -> list[str]:
    if len(gaps) <= MOST_NAMED:
        words = "has no result on some data sets and is left out of the tests."
        return [f"{name} {words}" for name in gaps]
    many = f"{len(gaps)} contestants have no result on some data sets"
    return [f"{many} and are left out of the tests over data sets."]


def _two_over_data(
    table: pd.DataFrame, responses: Responses, alpha: float, best: str, notes: tuple[str, ...]
) -> Verdict:
    first, second = table.columns
    # The sign test counts smaller values as wins.
    sign = -1.0 if responses.measure.greater_is_better else 1.0
    one, other = sign * table[first], sign * table[second]
    choice = choose_test("compare", "data sets", replications=len(table))[0]
    overall = statistics.wilcoxon_test(one, other, alpha=alpha)
    further = statistics.sign_test(one, other, alpha=alpha)
    # By rank sums, because a mean difference over data sets compares what is not comparable.
    ahead = overall.details["positive_ranks"] < overall.details["negative_ranks"]
    difference = float((table[first] - table[second]).median())
    rows = [(first, second, difference, len(table), overall.p_value)]
    pairs = decided(pd.DataFrame(rows, columns=PAIR_COLUMNS[:5]), alpha)
    winner, loser = (first, second) if ahead else (second, first)
    pairs = pairs.assign(better=winner, worse=loser)
    return Verdict(
        "all data sets",
        winner if overall.reject else best,
        pairs,
        overall,
        (further,),
        "Wilcoxon's signed rank test, and the sign test beside it",
        choice.reason,
        notes,
        assumptions_of(overall),
    )


def _many_over_data(
    table: pd.DataFrame,
    responses: Responses,
    alpha: float,
    best: str,
    notes: tuple[str, ...],
    procedure: str | None,
) -> Verdict:
    choice = choose_test("best", "data sets", replications=len(table))[0]
    options = {} if procedure is None else {"post_hoc": procedure}
    many = statistics.compare_many(
        table, greater_is_better=responses.measure.greater_is_better, alpha=alpha, **options
    )
    compared = many.pairs.table
    words = np.where(compared["adjusted_p"] < alpha, "reject", "fail to reject")
    pairs = compared.assign(splits=len(table), decision=words)
    # By mean ranks or signed ranks: the smaller one is better, whatever the measure.
    ahead = with_winners(
        pairs.assign(difference=compared[many.pairs.direction]), greater=False
    ).assign(difference=compared["difference"])
    pairs = protected(ahead[[*PAIR_COLUMNS, "decision"]], many.overall)
    return Verdict(
        "all data sets",
        best,
        pairs,
        many.overall,
        (many.friedman,),
        f"Friedman's test by Iman and Davenport's F, then {many.pairs.name} for every pair",
        choice.reason,
        notes,
        assumptions_of(many.overall),
        many,
    )
