"""What several data sets tell of their contestants: mean ranks, chances, and a choice."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from verulam.experiment._evidence.evidence import DEFAULT_RULE, Evidence
from verulam.experiment._store.responses import Responses
from verulam.statistics import (
    JointPosterior,
    Selection,
    bayesian_signed_rank,
    select,
    split_posterior,
)

#: Fewest data sets of which a distribution of differences can be drawn.
FEWEST_FOR_CHANCES = 5
SIGNED_RANK_DRAWS = 4000


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
    responses: Responses,
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
        margin=np.inf,
        rule=rule,
        noise=posterior.covariance,
    )
    table = pd.DataFrame({"mean_rank": posterior.means}, index=pd.Index(names, name="contestant"))
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
        rope=1.0,
        draws=SIGNED_RANK_DRAWS,
        random_state=0,
    )
    if greater:
        return compared.right, compared.rope, compared.left
    return compared.left, compared.rope, compared.right
