"""Hypothesis tests of a study: over the splits of a data set, over data sets, against a level."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from verulam import statistics
from verulam.base import DataError
from verulam.experiment._analysis.pairwise import RowLosses, compare_pairs, decided
from verulam.experiment._evidence.verdict import Verdict
from verulam.experiment._resampling.kinds import INDEPENDENT
from verulam.experiment._study.analysis_options import PAIR_TESTS
from verulam.experiment._text import listed, named
from verulam.statistics import TestResult, binomial_test, choose_test, runs_t_test

if TYPE_CHECKING:
    from verulam.experiment._store.responses import Responses
    from verulam.measures import Measure

#: Fewest data sets for which a test over them can reject, for two and for more contestants.
FEWEST_FOR_TWO, FEWEST_FOR_MANY = 6, 3
#: More contestants than this are counted, not named.
MOST_NAMED = 3
#: What tests take for granted and a plan sees to, by drawing splits once.
KEPT_BY_PLAN = ("all learners saw the same folds", "both learners saw the same splits")
#: Gives what each row of a data set contributes to a contestant's score; None where unknown.
RowsOf = Callable[[str, str], np.ndarray | None]
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


def verdict_on_splits(
    responses: "Responses",
    data: str,
    *,
    resampling: str,
    alpha: float,
    row_losses: RowLosses,
    test: str | None = None,
) -> Verdict | None:
    """Return what the tests say on one data set; None where no run has finished.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    resampling
        Kind of resampling.
    alpha
        Level of significance.
    row_losses
        Gives what each validated row contributes to a contestant's score, for a single split.
    test
        Paired test that was asked for; None takes the one that the design suggests.
    """
    table = responses.by_split(data)
    if table.empty:
        return None
    measure = responses.measure
    compared = compare_pairs(
        table,
        resampling=resampling,
        measure=measure,
        test_share=responses.test_shares[data],
        alpha=alpha,
        row_losses=row_losses,
        test=test,
    )
    best = _best_mean(table.mean(), greater=measure.greater_is_better)
    pairs = with_winners(compared.table, greater=measure.greater_is_better)
    notes = list(_unshared(responses, data))
    if compared.choice is None:
        if len(table.columns) > 1:
            notes.append(f"{data}: {_no_test(test, measure.name, len(table))}")
        return Verdict(data, best, pairs, notes=tuple(notes))
    method, why = PAIR_TESTS[compared.choice.function], compared.choice.reason
    taken = compared.choice.assumptions
    further: tuple[TestResult, ...] = ()
    if len(table.columns) == 2:
        overall = next(iter(compared.results.values()), None)
        further = _calibrated(table.dropna(), responses.test_shares[data], overall, alpha)
    else:
        share = 0.0 if resampling in INDEPENDENT else responses.test_shares[data]
        # Training parts that overlap make scores look more alike than they are; the ratio of tested
        # to learnt rows corrects F as it corrects the resampled t test.
        overall = _blocked(table.dropna(), alpha, share / (1.0 - share))
        method = f"{method} for every pair, adjusted after Holm"
        if overall is not None:
            pairs = protected(pairs, overall)
            method = f"blocked analysis of variance, then {method}"
    if overall is not None:
        taken = _assumptions(overall)
    control = _control(responses, compared.table, alpha)
    return Verdict(
        data, best, pairs, overall, further, method, why, tuple(notes), taken, control=control
    )


def dropped_out(responses: "Responses", data: str) -> dict[str, int]:
    """Return who dropped out of the race, as it could not win any more, and after how many repeats.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    """
    table = responses.by_split(data)
    repeats = table.index.get_level_values("repeat")
    planned = responses.runs[responses.runs["data"] == data].groupby("contestant", observed=True)
    last = planned["repeat"].max()
    dropped = {}
    for name in map(str, table.columns):
        lacking = int(table[name].isna().sum())
        repeats_run = repeats[table[name].notna()]
        # What was not planned any more was not needed; what was, failed or is left.
        unplanned = last[name] < repeats.max() and lacking == (repeats > repeats_run.max()).sum()
        if lacking and unplanned:
            dropped[name] = int(repeats_run.nunique())
    return dropped


def _assumptions(result: TestResult) -> tuple[str, ...]:
    """Return what a test takes for granted, in words."""
    return tuple(
        f"{assumption.text} (kept by the plan)"
        if assumption.text in KEPT_BY_PLAN
        else str(assumption)
        for assumption in result.assumptions
    )


def with_winners(pairs: pd.DataFrame, *, greater: bool) -> pd.DataFrame:
    """Return the pairs with the one ahead and the one behind."""
    first_better = (pairs["difference"] > 0) == greater
    return pairs.assign(
        better=np.where(first_better, pairs["first"], pairs["second"]),
        worse=np.where(first_better, pairs["second"], pairs["first"]),
    )


def protected(pairs: pd.DataFrame, overall: TestResult) -> pd.DataFrame:
    """Return the pairs with no rejection where the overall test has none."""
    # Fisher's protection: pairs count only where the overall test rejects.
    if overall.reject:
        return pairs
    return pairs.assign(decision=pairs["decision"].replace("reject", "fail to reject"))


def _control(responses: "Responses", pairs: pd.DataFrame, alpha: float) -> pd.DataFrame | None:
    """Return the pairs with the baseline, adjusted among themselves; None where there is none."""
    baseline = next(
        (contestant.name for contestant in responses.contestants if contestant.baseline), None
    )
    with_it = pairs[(pairs["first"] == baseline) | (pairs["second"] == baseline)]
    if with_it.empty or len(pairs) == 1:
        return None
    # The baseline was not picked by its results, so that only its own comparisons count (Dunnett).
    again = decided(with_it[["first", "second", "difference", "splits", "p_value"]], alpha)
    return with_winners(again, greater=responses.measure.greater_is_better)


def _no_test(test: str | None, measure: str, splits: int) -> str:
    if test is not None:
        return f"{PAIR_TESTS[test]} was asked for, but the splits and {measure} do not allow it."
    if splits > 1:
        return f"the finished splits with {measure} allow no test."
    return f"one split with {measure} allows no test; use cross-validation, or a mean over rows."


def _calibrated(
    shared: pd.DataFrame, test_share: float, overall: TestResult | None, alpha: float
) -> tuple[TestResult, ...]:
    """Return Bouckaert's test beside the corrected one, for repeated cross-validation."""
    # Bouckaert's calibration is of repeated cross-validation, not of one run of it.
    repeats = shared.index.get_level_values("repeat").nunique()
    if overall is None or overall.name != "Corrected resampled t test" or repeats < 2:
        return ()
    first, second = shared.to_numpy().T
    return (statistics.calibrated_t_test(first, second, test_share=test_share, alpha=alpha),)


def _best_mean(means: pd.Series, *, greater: bool) -> str:
    return str(means.idxmax() if greater else means.idxmin())


def _blocked(shared: pd.DataFrame, alpha: float, overlap: float) -> TestResult | None:
    if len(shared) < 2:
        return None
    try:
        return statistics.repeated_anova(shared, alpha=alpha, overlap=overlap)
    except DataError:  # no variance left within the blocks
        return None


def _unshared(responses: "Responses", data: str) -> Iterable[str]:
    """Yield who lacks which splits, so that pairs are tested on fewer than all."""
    table = responses.by_split(data)
    repeats = table.index.get_level_values("repeat").nunique()
    dropped = dropped_out(responses, data)
    groups: dict[tuple[bool, int], list[str]] = {}
    for name, lacking in table.isna().sum().items():
        if lacking:
            group = (name in dropped, dropped.get(str(name), int(lacking)))
            groups.setdefault(group, []).append(named(str(name)))
    for (is_dropped, count), names in groups.items():
        alone = len(names) == 1
        what = f"{'lacks' if alone else 'lack'} {count} of {len(table)} splits"
        if is_dropped:
            what = (
                f"could not win any more after {count} of {repeats} repeats and got no more of them"
            )
        yield (
            f"{data}: {listed(names)} {what}; {'its' if alone else 'their'} tests use only the "
            "splits that both contestants of a pair have."
        )


def verdict_over_data(
    responses: "Responses", *, alpha: float, procedure: str | None = None
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
    # Ranks need all contestants on a data set: one gap would cost every other a data set.
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
    table: pd.DataFrame, responses: "Responses", alpha: float, best: str, notes: tuple[str, ...]
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
        _assumptions(overall),
    )


def _many_over_data(
    table: pd.DataFrame,
    responses: "Responses",
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
        _assumptions(many.overall),
        many,
    )


def assess(
    responses: "Responses", acceptable: float, *, alpha: float, rows_of: RowsOf | None = None
) -> pd.DataFrame:
    """Return one row per data set and contestant, tested against what is acceptable.

    Parameters
    ----------
    responses
        The scores.
    acceptable
        Level of the measure that is still good enough.
    alpha
        Level of significance.
    rows_of
        What each tested row of a data set contributes to the score of a contestant.

    Notes
    -----
    The claim, that the contestant is better, is the alternative; equality is in the null
    hypothesis. Several splits have a t test of their scores (Alpaydin 19.10.3). One split has a
    binomial test of its errors (19.10.1), and so have splits that all score alike, or that test
    one row each, if no row is tested twice.
    """
    if responses.measure.rows is None:  # not a mean over rows, so that nothing can be counted
        rows_of = None
    rows = []
    for data in responses.data:
        once = _tested_once(responses, data)
        for name, scores in responses.by_split(data).items():
            losses = rows_of(data, str(name)) if rows_of and once.get(str(name), False) else None
            test = _test_against_level(
                scores.dropna(), losses, acceptable, responses.measure, alpha
            )
            outcome = ("none", float("nan"), "not tested")
            if test is not None:
                outcome = (test.name, test.p_value, test.decision)
            rows.append((data, name, scores.mean(), *outcome))
    columns = ["data", "contestant", "mean", "test", "p_value", "decision"]
    return pd.DataFrame(rows, columns=columns)


def _tested_once(responses: "Responses", data: str) -> dict[str, bool]:
    """Return of which contestants no row was tested twice."""
    scores = responses.full[responses.full["data"] == data]
    groups = scores.groupby("contestant", observed=True)
    # A row that is tested twice would be counted twice by a binomial test.
    once = groups["repeat"].min() == groups["repeat"].max()
    single = once & (groups.size() == groups["fold"].nunique())
    return {str(name): bool(value) for name, value in single.items()}


def _test_against_level(
    scores: pd.Series,
    losses: np.ndarray | None,
    acceptable: float,
    measure: "Measure",
    alpha: float,
) -> TestResult | None:
    """Return the test of one contestant that its splits allow; None where there is none."""
    # What is to be shown is the alternative: not rejecting proves nothing.
    claim: Literal["greater", "less"] = "greater" if measure.greater_is_better else "less"
    counted = losses is not None and bool(np.isin(losses, (0.0, 1.0)).all())
    alike = len(scores) > 0 and float(np.ptp(scores)) == 0.0
    try:
        if losses is not None and counted and (alike or len(losses) == len(scores)):
            hits = int(losses.sum())
            return binomial_test(hits, len(losses), acceptable, alternative=claim, alpha=alpha)
        return runs_t_test(scores, acceptable, alternative=claim, alpha=alpha)
    except DataError:  # one split of a measure that is no count, or no variance
        return None
