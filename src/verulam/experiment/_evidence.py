"""What the runs of a study tell of its contestants, all together: estimates, chances, a choice."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.experiment._contestants import Responses, at_largest_share
from verulam.experiment._margin import default_margin
from verulam.experiment._resampling import Resampling, resampling
from verulam.experiment._results import Results
from verulam.experiment._row_values import EVERY_ROW_ONCE, RowValues, row_values
from verulam.measures import Measure
from verulam.statistics import (
    JointPosterior,
    Selection,
    joint_posterior,
    rows_to_tell,
    select,
    split_posterior,
)

DEFAULT_RULE = "half standard error"
#: At the most so many repeats where nothing else is said.
MOST_REPEATS = 10
#: A contestant whose chance of being within the margin of the best is smaller cannot win any more.
OUT_OF_THE_RACE = 0.01


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the runs on one data set tell of all contestants.

    Attributes
    ----------
    data
        Label of the data set.
    measure
        What was measured.
    posterior
        Means of the contestants and how far they may be off, all together.
    margin
        Difference below which two contestants are as good as equal.
    complexity
        How complex each contestant is; less is simpler.
    eligible
        Contestants that may be chosen: those without failed runs.
    baseline
        The contestant that ignores the inputs; None where none takes part.
    alpha
        Chance of claiming any difference where there is none.
    rule
        Rule of choice.
    selection
        The contestant that the rule chooses, and how firm that is.
    losses
        Repeats x rows x contestants, what each row contributes; None where rows have no value.
    """

    data: str
    measure: Measure
    posterior: JointPosterior
    margin: float
    complexity: Mapping[str, float]
    eligible: tuple[str, ...]
    baseline: str | None
    alpha: float
    rule: str
    selection: Selection
    losses: NDArray[np.float64] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The contestants."""
        return self.posterior.names

    @cached_property
    def best(self) -> str:
        """The eligible contestant with the best mean."""
        costs = dict(zip(self.names, self.posterior.costs, strict=True))
        return min(self.eligible, key=lambda name: costs[name])

    @property
    def order(self) -> tuple[str, ...]:
        """The contestants by their means, the best first."""
        places = np.argsort(self.posterior.costs, kind="stable")
        return tuple(self.names[place] for place in places)

    @property
    def repeats(self) -> int:
        """How often the rows were split anew."""
        return int(self.posterior.repeats.max())

    @cached_property
    def claims(self) -> pd.DataFrame:
        """Every pair, with a p-value adjusted for looking at all of them."""
        return self.posterior.claims(self.alpha)

    def rival(self, name: str) -> str:
        """Return whom a contestant is to be told from: the best, or the one that comes next.

        Parameters
        ----------
        name
            The contestant.
        """
        if name != self.best:
            return self.best
        others = [other for other in self.order if other != name]
        return next((other for other in others if not self.claimed(name, other)), others[0])

    def claimed(self, better: str, worse: str) -> bool:
        """Return whether one contestant is shown to be better than another."""
        pairs = self.claims
        rows = pairs[(pairs["better"] == better) & (pairs["worse"] == worse)]
        return bool(rows["claimed"].any())

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per contestant, best first: estimates, differences, probabilities."""
        chances = self.posterior.probabilities(self.margin)
        rows = []
        for place, name in enumerate(self.names):
            low, high = self.interval(name)
            rows.append(
                {
                    "contestant": name,
                    "estimate": float(self.posterior.means[place]),
                    "low": low,
                    "high": high,
                    **self._against("best", name, self.best),
                    **self._against("baseline", name, self.baseline),
                    "probability_best": float(chances["best"].iloc[place]),
                    "probability_within": float(chances["within"].iloc[place]),
                    "regret": float(chances["regret"].iloc[place]),
                    "complexity": self.complexity[name],
                    "repeats": int(self.posterior.repeats[place]),
                    "eligible": name in self.eligible,
                }
            )
        return pd.DataFrame(rows).set_index("contestant").loc[list(self.order)]

    def _against(self, word: str, name: str, reference: str | None) -> dict[str, float]:
        """Return the difference from a reference, its interval, and what is probable of it."""
        keys = ["difference", "difference_low", "difference_high", "better", "equal", "worse"]
        numbers = (float("nan"),) * 6
        if reference is not None:
            numbers = (
                *self.posterior.difference(name, reference),
                *self.posterior.better_equal_worse(name, reference, self.margin),
            )
            if name == reference:
                numbers = (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
        suffix = "" if word == "best" else f"_{word}"
        return {f"{key}{suffix}": number for key, number in zip(keys, numbers, strict=True)}

    def interval(self, name: str, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of one contestant's value, within the range of the measure.

        Parameters
        ----------
        name
            The contestant.
        confidence
            Probability that the interval holds.
        """
        place = self.names.index(name)
        if self.losses is not None and bool(np.isin(self._own(place), (0.0, 1.0)).all()):
            low, high = self.posterior.share_interval(name, confidence)
        else:
            low, high = self.posterior.interval(name, confidence)
        least, most = self.measure.range
        return max(low, least), min(high, most)

    def _own(self, place: int) -> NDArray[np.float64]:
        assert self.losses is not None
        values = self.losses[:, :, place]
        return values[~np.isnan(values)]

    @cached_property
    def repeats_agreeing(self) -> tuple[int, int]:
        """How many of the repeats alone would give the same choice, and of how many."""
        if self.losses is None or self.repeats < 2:
            return 0, 0
        whole = ~np.isnan(self.losses).any(axis=(1, 2))
        agreeing = 0
        for repeat in np.flatnonzero(whole):
            single = self.losses[repeat].mean(axis=0)
            if self.measure.root:
                # Influences are losses over twice the root of their mean.
                single = np.sqrt(np.maximum(2.0 * single * self.posterior.means, 0.0))
            alone = replace(self.posterior, means=single)
            agreeing += self._selected(alone).name == self.selection.name
        return agreeing, int(whole.sum())

    def _selected(self, posterior: JointPosterior) -> Selection:
        return _selection(posterior, self.complexity, self.eligible, self.margin, self.rule)

    def same_losses(self, first: str, second: str) -> bool:
        """Return whether two contestants did the same on every row that both were validated on.

        Parameters
        ----------
        first, second
            The contestants.
        """
        if self.losses is None:
            return False
        values = self.losses[:, :, [self.names.index(first), self.names.index(second)]]
        values = values[~np.isnan(values).any(axis=(1, 2))]
        return bool(len(values) and np.array_equal(values[:, :, 0], values[:, :, 1]))

    def rows_to_tell(self, first: str, second: str) -> float | None:
        """Return how many times as many rows would show which of two is better; None for too many.

        Parameters
        ----------
        first, second
            The contestants.
        """
        if self.losses is None:
            return None
        places = [self.names.index(first), self.names.index(second)]
        values = self.losses[:, :, places]
        values = values[~np.isnan(values).any(axis=(1, 2))]
        ahead = abs(float(np.diff(self.posterior.means[places])[0]))
        if not len(values) or ahead == 0.0:
            return None
        signed = values[:, :, 0] - values[:, :, 1]
        critical = self.posterior.critical_value(self.alpha)
        return rows_to_tell(signed if signed.mean() > 0 else -signed, ahead, critical)


def evidence_of(
    results: Results,
    responses: Responses,
    complexity: Mapping[str, float],
    *,
    alpha: float = 0.05,
    matters: float | None = None,
    rule: str = DEFAULT_RULE,
) -> dict[str, Evidence]:
    """Return for each data set what its runs tell of all contestants.

    Parameters
    ----------
    results
        The study.
    responses
        Its scores.
    complexity
        How complex each contestant is; less is simpler.
    alpha
        Chance of claiming any difference where there is none.
    matters
        Difference below which two contestants are as good as equal; None takes that of the
        measure.
    rule
        Rule of choice.
    """
    how = resampling(results.description["resampling"])
    grouped = {
        str(given.get("label") or given["source"]): bool(given.get("groups") or how.groups)
        for given in results.description["data"]
    }
    tables, targets = row_values(results, responses)
    by_rows = how.kind in EVERY_ROW_ONCE and not (how.kind == "holdout" and how.repeats > 1)
    evidence = {}
    for data in responses.data:
        if data not in targets:
            continue
        values = tables.get(data) if by_rows and not grouped.get(data, bool(how.groups)) else None
        posterior = _posterior(responses, data, how, values)
        if posterior is None:
            continue
        margin = matters
        if margin is None:
            margin = default_margin(responses.measure, targets[data], posterior.means)
        evidence[data] = _judged(
            responses, data, posterior, complexity, margin, alpha, rule, how, values
        )
    return evidence


def _posterior(
    responses: Responses, data: str, how: Resampling, values: RowValues | None
) -> JointPosterior | None:
    """Return what is known of the contestants: from rows where they count, else from splits."""
    measure = responses.measure
    if values is not None:
        return joint_posterior(
            values.values,
            values.names,
            means=values.means,
            greater_is_better=measure.greater_is_better,
            heavy_tails=not np.isfinite(measure.range).all(),
        )
    table = responses.by_split(data)
    if table.empty:
        return None
    complete = table.loc[:, table.notna().sum() == table.notna().sum().max()].dropna()
    if len(complete) < 2:
        return None
    share = 0.0 if how.kind == "disjoint" else responses.test_shares[data]
    if how.kind == "bootstrap":
        share = 0.5  # tested on rows learnt from: the scores of two samples share nearly all
    return split_posterior(
        complete.to_numpy(np.float64),
        [str(name) for name in complete.columns],
        test_share=share,
        greater_is_better=measure.greater_is_better,
    )


def _judged(
    responses: Responses,
    data: str,
    posterior: JointPosterior,
    complexity: Mapping[str, float],
    margin: float,
    alpha: float,
    rule: str,
    how: Resampling,
    values: RowValues | None,
) -> Evidence:
    failed = _with_failures(responses, data)
    eligible = tuple(name for name in posterior.names if name not in failed) or posterior.names
    baselines = [each.name for each in responses.contestants if each.baseline]
    baseline = next((name for name in baselines if name in posterior.names), None)
    most = how.max_repeats or max(how.repeats, MOST_REPEATS)
    return Evidence(
        data,
        responses.measure,
        posterior,
        margin,
        {name: complexity[name] for name in posterior.names},
        eligible,
        baseline,
        alpha,
        rule,
        _selection(posterior, complexity, eligible, margin, rule, most),
        None if values is None else values.values,
    )


def _selection(
    posterior: JointPosterior,
    complexity: Mapping[str, float],
    eligible: tuple[str, ...],
    margin: float,
    rule: str,
    max_repeats: int = MOST_REPEATS,
) -> Selection:
    return select(
        posterior,
        [complexity[name] for name in posterior.names],
        margin=margin,
        # What the tests do not reject is known to the analysis alone.
        rule=DEFAULT_RULE if rule == "not rejected" else rule,
        max_repeats=max_repeats,
        eligible=[name in eligible for name in posterior.names],
    )


def _with_failures(responses: Responses, data: str) -> set[str]:
    """Return the contestants of which some run did not succeed."""
    runs = responses.runs
    unsuccessful = (runs["data"] == data) & ~runs["status"].isin(["done", "left"])
    unsuccessful &= at_largest_share(runs, runs)
    return set(runs.loc[unsuccessful, "contestant"].astype(str))
