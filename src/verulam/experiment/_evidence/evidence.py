"""What the runs of a study tell of its contestants, all together: estimates, chances, a choice."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.experiment._evidence.margin import default_margin
from verulam.experiment._resampling.resampling import Resampling, resampling
from verulam.experiment._store.responses import Responses
from verulam.experiment._store.results import Results
from verulam.experiment._store.row_values import (
    EVERY_ROW_ONCE,
    LARGEST,
    SMALLEST,
    RowValues,
    row_values,
)
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
#: Share of all noise that stands for that of the splits where one repeat cannot tell it.
UNKNOWN_SPLITS = 0.5
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
    worth
        Rows of one class that would tell as much as those that there are; None for as many.
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
    worth: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The contestants."""
        return self.posterior.names

    @cached_property
    def best(self) -> str:
        """The eligible contestant with the best mean; of those that are level the first."""
        costs = dict(zip(self.names, self.posterior.costs, strict=True))
        least = min(costs[name] for name in self.eligible)
        # As the rule has it, rounding must not decide.
        rounding = 1e-12 * abs(least)
        return next(name for name in self.eligible if costs[name] - least <= rounding)

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
        rivals = [other for other in others if other in self.eligible] or others
        if not rivals:
            raise DataError(f"{name} is alone: nobody is to be told from it.")
        return next((other for other in rivals if not self.claimed(name, other)), rivals[0])

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
        least, most = self.measure.range
        if (least, most) == (0.0, 1.0) and name in self._counting:
            return self.posterior.share_interval(name, confidence, n_rows=self.worth)
        low, high = self.posterior.interval(name, confidence)
        return max(low, least), min(high, most)

    @cached_property
    def _counting(self) -> set[str]:
        """Contestants for which each row counts as a whole, or not at all."""
        if self.losses is None:
            return set()
        values = self.losses
        whole = ((values == 0.0) | (values == 1.0) | np.isnan(values)).all(axis=(0, 1))
        return {name for name, counts in zip(self.names, whole, strict=True) if counts}

    @cached_property
    def repeats_agreeing(self) -> tuple[int, int]:
        """How many of the repeats alone would give the same choice, and of how many."""
        if self.losses is None or self.repeats < 2:
            return 0, 0
        values = self.losses.mean(axis=1)
        # Who has dropped out of the race by then stands where it stood.
        moves = np.nan_to_num(values - np.nanmean(values, axis=0))
        moves = moves[~np.isnan(values[:, self.names.index(self.selection.name)])]
        choices = [self._choice(self.posterior.means + move) for move in moves]
        return choices.count(self._choice(self.posterior.means)), len(choices)

    def _choice(self, means: NDArray[np.float64]) -> str:
        posterior = replace(self.posterior, means=means)
        return _selection(posterior, self.complexity, self.eligible, self.margin, self.rule).name

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
        str(table.get("label") or table["source"]): bool(table.get("groups") or how.groups)
        for table in results.description["data"]
    }
    tables, targets = row_values(results, responses)
    by_rows = how.kind in EVERY_ROW_ONCE
    evidence = {}
    for data in responses.data:
        if data not in targets:
            continue
        values = tables.get(data) if by_rows and not grouped.get(data, bool(how.groups)) else None
        posterior, noise = _posterior(responses, data, how, values)
        if posterior is None:
            continue
        margin = matters
        if margin is None:
            margin = default_margin(responses.measure, targets[data], posterior.means)
        evidence[data] = _judged(
            responses, data, posterior, noise, complexity, margin, alpha, rule, how, values
        )
    return evidence


def _posterior(
    responses: Responses, data: str, how: Resampling, values: RowValues | None
) -> tuple[JointPosterior | None, NDArray[np.float64] | None]:
    """Return what is known of the contestants: from rows where they count, else from splits.

    Beside it the covariance of their means between studies with other splits, where the posterior
    does not tell it.
    """
    measure = responses.measure
    if values is not None:
        posterior = joint_posterior(
            values.values,
            values.names,
            means=values.means,
            greater_is_better=measure.greater_is_better,
            heavy_tails=not np.isfinite(measure.range).all(),
        )
        posterior = _of_other_splits(posterior, values.repeats)
        # Leaving each row out once can be done in one way only.
        certain = np.zeros_like(posterior.splits) if how.kind == "leave-one-out" else None
        return posterior, certain
    table = responses.by_split(data)
    table = table.where(table.abs() <= LARGEST)
    complete = table[[name for name in table if name not in responses.with_failures(data)]].dropna()
    if len(complete) < 2 or complete.empty:
        complete = table.loc[:, table.notna().sum() == table.notna().sum().max()].dropna()
    if len(complete) < 2 or 0.0 < complete.abs().to_numpy().max() < SMALLEST:
        return None, None
    share = 0.0 if how.kind == "disjoint" else responses.test_shares[data]
    posterior = split_posterior(
        complete.to_numpy(np.float64),
        [str(name) for name in complete.columns],
        test_share=share,
        greater_is_better=measure.greater_is_better,
    )
    noise = _noise_of_splits(complete, posterior, how)
    repeats = complete.index.get_level_values("repeat").nunique()
    if how.kind in ("k-fold", "5x2") and repeats > 1:
        # The corrected variance counts the splits once; apart, a claim can count them thrice.
        splits = repeats * noise
        posterior = replace(
            posterior,
            rows=posterior.rows - splits,
            splits=splits,
            repeats=np.full_like(posterior.repeats, repeats),
        )
    return posterior, noise


def _of_other_splits(posterior: JointPosterior, repeats: NDArray[np.int64]) -> JointPosterior:
    """Return a posterior in which replications, with other seeds, do not pass for other splits."""
    once = (repeats == 1) & (posterior.repeats > 1)
    splits = posterior.splits.copy()
    splits[np.ix_(once, once)] += UNKNOWN_SPLITS * posterior.rows[np.ix_(once, once)]
    return replace(posterior, splits=splits, repeats=repeats)


def _noise_of_splits(
    scores: pd.DataFrame, posterior: JointPosterior, how: Resampling
) -> NDArray[np.float64]:
    """Return the covariance of means that comes from how the rows were split, from scores alone.

    That of the splits within a repeat tells its form, the scatter of the repeats its size: of all
    contestants together, and beside what one repeat is taken to tell, since repeats are few.
    """
    if how.kind == "leave-one-out":
        return np.zeros_like(posterior.rows)
    means = scores.groupby(level="repeat").mean()
    count = len(means)
    if count < 2:
        return UNKNOWN_SPLITS * posterior.rows
    if count == len(scores):
        return np.atleast_2d(np.cov(scores, rowvar=False)) / count
    within = scores - scores.groupby(level="repeat").transform("mean")
    form = within.T.to_numpy() @ within.to_numpy() / (len(scores) - count) / (len(scores) / count)
    total = float(np.trace(form))
    ratio = float(means.var().sum()) / total if total > 0 else 0.0
    return form * (UNKNOWN_SPLITS + (count - 1) * ratio) / count / count


def _judged(
    responses: Responses,
    data: str,
    posterior: JointPosterior,
    noise: NDArray[np.float64] | None,
    complexity: Mapping[str, float],
    margin: float,
    alpha: float,
    rule: str,
    how: Resampling,
    values: RowValues | None,
) -> Evidence:
    failed = responses.with_failures(data)
    eligible = tuple(name for name in posterior.names if name not in failed) or posterior.names
    baselines = [contestant.name for contestant in responses.contestants if contestant.baseline]
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
        _selection(posterior, complexity, eligible, margin, rule, most, noise),
        None if values is None else values.values,
        None if values is None else values.worth,
    )


def _selection(
    posterior: JointPosterior,
    complexity: Mapping[str, float],
    eligible: tuple[str, ...],
    margin: float,
    rule: str,
    max_repeats: int = MOST_REPEATS,
    noise: NDArray[np.float64] | None = None,
) -> Selection:
    return select(
        posterior,
        [complexity[name] for name in posterior.names],
        margin=margin,
        # What the tests do not reject is known to the analysis alone.
        rule=DEFAULT_RULE if rule == "not rejected" else rule,
        max_repeats=max_repeats,
        eligible=[name in eligible for name in posterior.names],
        noise=noise,
    )
