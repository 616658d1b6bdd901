"""What the runs of a study tell of its contestants, all together: estimates, chances, a choice."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.statistics import (
    JointPosterior,
    Selection,
    bayesian_signed_rank,
    rows_to_tell,
    select,
    split_posterior,
)

if TYPE_CHECKING:
    from verulam.experiment._store.responses import Responses
    from verulam.measures import Measure

#: A contestant whose chance of being within the margin of the best is smaller cannot win any more.
OUT_OF_THE_RACE = 0.01
DEFAULT_RULE = "half standard error"
#: At the most so many repeats where nothing else is said.
MOST_REPEATS = 10
#: Fewest data sets of which a distribution of differences can be drawn.
FEWEST_FOR_CHANCES = 5
#: Shares of 4,000 draws have a standard error of at most .8 percentage points.
SIGNED_RANK_DRAWS = 4000
#: More rows than so many times those that there are nobody can be advised to get.
MOST_TIMES = 256


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
        Repeats x rows x contestants, what each row (or group of rows that are kept together)
        contributes; None where rows have no value.
    counting
        Contestants for which each row counts as a whole, or not at all; None for those of `losses`.
    unit
        What varies by itself: a "row", or a "group" of rows that are kept together.
    worth
        Effective number of rows, for the interval of a share; None for as many as there are.
    looks
        Numbers of repeats after which the study may end, over all of which `alpha` holds; none
        where that is settled beforehand.
    """

    data: str
    measure: "Measure"
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
    counting: frozenset[str] | None = None
    unit: str = "row"
    looks: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The contestants."""
        return self.posterior.names

    @cached_property
    def best(self) -> str:
        """The eligible contestant with the best mean, the first of them in `order`."""
        return next(name for name in self.order if name in self.eligible)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The contestants by their means, the best first; of those that are level the simpler."""

        def place(name: str) -> tuple[float, float, bool, str]:
            # Rounding must not decide, nor who was named first.
            cost = float(f"{costs[name]:.12g}")
            return cost, self.complexity[name], name != self.selection.name, name

        costs = dict(zip(self.names, self.posterior.costs, strict=True))
        return tuple(sorted(self.names, key=place))

    @property
    def repeats(self) -> int:
        """How often the rows were split anew."""
        return int(self.posterior.repeats.max())

    @cached_property
    def claims(self) -> pd.DataFrame:
        """Every pair, with a p-value adjusted for looking at all of them, after any repeat."""
        return self.posterior.claims(self.alpha, looks=self.looks)

    def rival(self, name: str) -> str:
        """Return whom a contestant is to be told from: the best, or the one that comes next.

        Parameters
        ----------
        name
            The contestant.
        """
        if name != self.best:
            return self.best
        # For the best itself, the nearest that is not shown to be worse is what is open still.
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
        # Counted rows have a binomial share; a mean of probabilities, say, has not.
        if (least, most) == (0.0, 1.0) and name in self._counting:
            # Wilson's interval, which has a width also where nobody erred.
            return self.posterior.share_interval(name, confidence, n_rows=self.worth)
        low, high = self.posterior.interval(name, confidence)
        return max(low, least), min(high, most)

    @cached_property
    def _counting(self) -> frozenset[str]:
        if self.counting is not None or self.losses is None:
            return self.counting or frozenset()
        counts = (self.losses == 0.0) | (self.losses == 1.0) | np.isnan(self.losses)
        whole = counts.all(axis=(0, 1))
        return frozenset(name for name, counting in zip(self.names, whole, strict=True) if counting)

    @cached_property
    def repeats_agreeing(self) -> tuple[int, int]:
        """How many of the repeats alone would give the same choice, and of how many."""
        if self.losses is None or self.repeats < 2:
            return 0, 0
        # A row for each repeat: what it alone would have measured.
        values = self.losses.mean(axis=1)
        # Who has dropped out of the race by then stands where it stood.
        moves = np.nan_to_num(values - np.nanmean(values, axis=0))
        # A repeat without the choice itself cannot speak for or against it.
        moves = moves[~np.isnan(values[:, self.names.index(self.selection.name)])]
        choices = [self._choice(self.posterior.means + move) for move in moves]
        return choices.count(self._choice(self.posterior.means)), len(choices)

    def _choice(self, means: NDArray[np.float64]) -> str:
        posterior = replace(self.posterior, means=means)
        return selection_of(posterior, self.complexity, self.eligible, self.margin, self.rule).name

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
        # Both on the same rows of the same repeats: what is common to them cancels.
        signed = values[:, :, 0] - values[:, :, 1]
        critical = self.posterior.critical_value(self.alpha, looks=self.looks)
        signed = signed if signed.mean() > 0 else -signed
        return rows_to_tell(signed, ahead, critical, most=MOST_TIMES)


def selection_of(
    posterior: JointPosterior,
    complexity: Mapping[str, float],
    eligible: tuple[str, ...],
    margin: float,
    rule: str,
    *,
    max_repeats: int = MOST_REPEATS,
    sequential: bool = False,
    noise: NDArray[np.float64] | None = None,
) -> Selection:
    """Return what `verulam.statistics.select` chooses, with contestants by name."""
    return select(
        posterior,
        [complexity[name] for name in posterior.names],
        margin=margin,
        # What the tests do not reject is known to the analysis alone.
        rule=DEFAULT_RULE if rule == "not rejected" else rule,
        max_repeats=max_repeats,
        sequential=sequential,
        eligible=[name in eligible for name in posterior.names],
        noise=noise,
    )


@dataclass(frozen=True, eq=False)
class RankEvidence:
    """What all data sets together tell of the contestants that have a result on each.

    Attributes
    ----------
    posterior
        Mean ranks and how far they may be off, over data sets like these.
    selection
        The contestant that the rule chooses by mean rank; its agreement is that with other data
        sets like these.
    table
        One row per contestant, best first: mean rank, and how probably it is better than the best
        by more than the margin of each data set, practically equal, or worse (the Bayesian signed
        rank test; NaN for few data sets).
    n_data_sets
        Number of data sets.
    rule
        Rule of choice.
    """

    posterior: JointPosterior
    selection: Selection
    table: pd.DataFrame
    n_data_sets: int
    rule: str = DEFAULT_RULE

    @property
    def best(self) -> str:
        """The contestant with the best mean rank."""
        return self.posterior.best

    @property
    def order(self) -> tuple[str, ...]:
        """The contestants by their mean ranks, the best first."""
        return tuple(str(name) for name in self.table.index)

    def mean_rank(self, name: str) -> float:
        """Return the mean rank of a contestant."""
        return float(self.table["mean_rank"][name])


def rank_evidence(
    responses: "Responses",
    evidence: Mapping[str, Evidence],
    complexity: Mapping[str, float],
    rule: str,
) -> RankEvidence | None:
    """Return what several data sets tell; None for fewer than two with a result of two contestants.

    Parameters
    ----------
    responses
        The scores.
    evidence
        What each data set tells.
    complexity
        How complex each contestant is; less is simpler.
    rule
        Rule of choice.

    Notes
    -----
    On each data set contestants are ranked by their means, ties sharing their ranks. The rule is
    that of one data set, with the standard error over data sets, and no margin: ranks have none.
    """
    means = responses.by_data().dropna(how="all").dropna(axis=1)
    if len(means) < 2 or means.shape[1] < 2:
        return None
    greater = responses.measure.greater_is_better
    # Rounding must not rank means that are the same on paper, however small the measure.
    scale = means.abs().max(axis=1).replace(0.0, 1.0)
    ranks = means.div(scale, axis=0).round(12).rank(axis=1, ascending=not greater)
    names = [str(name) for name in ranks.columns]
    posterior = split_posterior(ranks.to_numpy(np.float64), names, test_share=0.0)
    rule = DEFAULT_RULE if rule == "not rejected" else rule
    selection = select(
        posterior,
        [complexity[name] for name in names],
        # Ranks have no units in which a difference could matter: the standard error decides alone.
        margin=np.inf,
        rule=rule,
        # Other data sets would be others altogether, so that all of the variance is noise.
        noise=posterior.covariance,
    )
    table = pd.DataFrame({"mean_rank": posterior.means}, index=pd.Index(names, name="contestant"))
    # Raw differences mean different things on different data sets; margins make them comparable.
    scaled = _in_margins(means, evidence)
    chances = [_chances(scaled, name, posterior.best, greater=greater) for name in names]
    table[["better", "equal", "worse"]] = np.array(chances)
    return RankEvidence(
        posterior, selection, table.sort_values("mean_rank", kind="stable"), len(means), rule
    )


def _in_margins(means: pd.DataFrame, evidence: Mapping[str, Evidence]) -> pd.DataFrame | None:
    """Return the means in units of what matters on each data set; None where that is unknown."""
    margins = [evidence[str(data)].margin if data in evidence else np.nan for data in means.index]
    if not all(margin > 0 for margin in margins):
        return None
    return means.div(margins, axis=0)


def _chances(
    scaled: pd.DataFrame | None, name: str, best: str, *, greater: bool
) -> tuple[float, float, float]:
    """Return how probably one contestant is better than the best, equal, or worse."""
    if scaled is None or len(scaled) < FEWEST_FOR_CHANCES:
        return (np.nan, np.nan, np.nan)
    if name == best:
        return (0.0, 1.0, 0.0)
    compared = bayesian_signed_rank(
        scaled[name].to_numpy(),
        scaled[best].to_numpy(),
        # In units of the margin, which may differ from data set to data set.
        rope=1.0,
        draws=SIGNED_RANK_DRAWS,
        random_state=0,
    )
    if greater:
        return compared.right, compared.rope, compared.left
    return compared.left, compared.rope, compared.right
