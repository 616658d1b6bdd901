"""What the tests say on one data set, over its splits."""

from collections.abc import Iterable

import pandas as pd

from verulam import statistics
from verulam.base import DataError
from verulam.experiment._analysis.pairwise import RowLosses, compare_pairs, decided
from verulam.experiment._evidence.verdict import Verdict, assumptions_of, protected, with_winners
from verulam.experiment._store.responses import Responses, spoken_name
from verulam.experiment._study.analysis_options import PAIR_TESTS
from verulam.statistics import TestResult


def verdict_on_splits(
    responses: Responses,
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
    best = _best(table.mean(), greater=measure.greater_is_better)
    pairs = with_winners(compared.table, greater=measure.greater_is_better)
    notes = list(_unshared(responses, data))
    if compared.choice is None:
        if len(table.columns) > 1:
            notes.append(f"{data}: {_no_test(test, measure.name)}")
        return Verdict(data, best, pairs, notes=tuple(notes))
    method, why = PAIR_TESTS[compared.choice.function], compared.choice.reason
    taken = compared.choice.assumptions
    further: tuple[TestResult, ...] = ()
    if len(table.columns) == 2:
        overall = next(iter(compared.results.values()), None)
        further = _calibrated(table.dropna(), responses.test_shares[data], overall, alpha)
    else:
        share = 0.0 if resampling == "disjoint" else responses.test_shares[data]
        overall = _blocked(table.dropna(), alpha, share / (1.0 - share))
        method = f"{method} for every pair, adjusted after Holm"
        if overall is not None:
            pairs = protected(pairs, overall)
            method = f"blocked analysis of variance, then {method}"
    if overall is not None:
        taken = assumptions_of(overall)
    control = _control(responses, compared.table, alpha)
    return Verdict(
        data, best, pairs, overall, further, method, why, tuple(notes), taken, control=control
    )


def _control(responses: Responses, pairs: pd.DataFrame, alpha: float) -> pd.DataFrame | None:
    """Return the pairs with the baseline, adjusted among themselves; None where there is none."""
    baseline = next((each.name for each in responses.contestants if each.baseline), None)
    with_it = pairs[(pairs["first"] == baseline) | (pairs["second"] == baseline)]
    if with_it.empty or len(pairs) == 1:
        return None
    again = decided(with_it[["first", "second", "difference", "splits", "p_value"]], alpha)
    return with_winners(again, greater=responses.measure.greater_is_better)


def _no_test(test: str | None, measure: str) -> str:
    if test is not None:
        return f"{PAIR_TESTS[test]} was asked for, but the splits and {measure} do not allow it."
    return f"one split with {measure} allows no test; use cross-validation, or a mean over rows."


def _calibrated(
    shared: pd.DataFrame, test_share: float, overall: TestResult | None, alpha: float
) -> tuple[TestResult, ...]:
    """Return Bouckaert's test beside the corrected one, for repeated cross-validation."""
    repeats = shared.index.get_level_values("repeat").nunique()
    if overall is None or overall.name != "Corrected resampled t test" or repeats < 2:
        return ()
    first, second = shared.to_numpy().T
    return (statistics.calibrated_t_test(first, second, test_share=test_share, alpha=alpha),)


def _best(means: pd.Series, *, greater: bool) -> str:
    return str(means.idxmax() if greater else means.idxmin())


def _blocked(shared: pd.DataFrame, alpha: float, overlap: float) -> TestResult | None:
    if len(shared) < 2:
        return None
    try:
        return statistics.repeated_anova(shared, alpha=alpha, overlap=overlap)
    except DataError:  # no variance left within the blocks
        return None


def _unshared(responses: Responses, data: str) -> Iterable[str]:
    """Yield who lacks which splits, so that pairs are tested on fewer than all."""
    table = responses.by_split(data)
    repeats = table.index.get_level_values("repeat")
    planned = responses.runs[responses.runs["data"] == data].groupby("contestant", observed=True)
    last = planned["repeat"].max()
    shared = "its tests use only the splits that both contestants of a pair have."
    for name in map(str, table.columns):
        lacking = int(table[name].isna().sum())
        own = repeats[table[name].notna()]
        # What was not planned any more was not needed: see `AdaptiveRepeats`.
        if lacking and last[name] < repeats.max() and lacking == (repeats > own.max()).sum():
            yield (
                f"{data}: {spoken_name(name)} could not win any more after "
                f"{own.nunique()} of {repeats.nunique()} repeats and got no more of them; {shared}"
            )
        elif lacking:
            yield f"{data}: {spoken_name(name)} lacks {lacking} of {len(table)} splits; {shared}"
