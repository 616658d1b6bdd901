"""The joint posterior of all contestants: what each would score on unseen rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import COLLECTION, COUNT, DataError, Seed, generator
from verulam.statistics._core.checks import (
    LARGEST,
    SMALLEST,
    Vector,
    any_numbers,
    checked_level,
)
from verulam.statistics._core.distributions import Student

#: Draws behind the probability of being the best, and behind the adjusted p-values.
POSTERIOR_DRAWS, CLAIM_DRAWS = 4000, 10_000
#: Of many contestants fewer draws are taken, so that all pairs have at the most so many.
MOST_DRAWN = 800_000_000
#: The variance between repeats exceeds what the rows of each repeat tell by this factor, in the
#: median over simulated problems: the rows of a fold share one fitted model.
SPLIT_INFLATION = 1.13
#: How often the noise of the splits is counted where a difference is claimed. With once, learners
#: whose fits vary much from sample to sample (trees) are told apart by chance too often.
SPLITS_IN_CLAIMS = 3.0
#: Share of the covariance behind the probability of being the best. With all of it they are timid:
#: over 725 simulated sets a stated .65 was true in .79, with this share all bins are within .1.
SHARE_FOR_BEST = 0.6
#: Share of the noise of the rows that stands for the splits where one repeat cannot tell it.
UNKNOWN_SPLITS = 0.5
#: The floor counts no contestant's variance for more than so many times what is usual among them:
#: one that diverges would hide the differences of all others.
MOST_TIMES_USUAL = 100.0
#: Share of the usual variance that keeps rounding from telling copies apart where splits are
#: compared, of which there are too few for a floor that counts.
SPLIT_FLOOR = 1e-6


@dataclass(frozen=True, eq=False)
class JointPosterior:
    r"""What is known of all contestants at once, from the rows on which they were validated.

    Attributes
    ----------
    names
        The contestants.
    means
        Estimated value of the measure for each.
    rows
        Covariance of the means that comes from the choice of rows, in one repeat.
    splits
        Covariance that comes from how the rows were split, in one repeat.
    floor
        Variance added to each contestant, so that near copies are not told apart by nothing.
    repeats
        How often each contestant was validated on all rows.
    degrees_of_freedom
        Of the t distribution.
    n_rows
        Rows (or, where no row has a value of its own, splits) behind the covariances.
    greater_is_better
        Direction of the measure.
    deterministic
        Whether scores that are the same in all splits mean that they would always be so, as of an
        agent that nothing disturbs. If not, a difference that is the same in n rows or splits is
        worth no more than n of its own size.

    Notes
    -----
    The posterior is :math:`t_\nu(m, C)` with :math:`C = S + W + F`: the covariance of the rows,
    that of the splits and the floor. Neither S nor W is divided by the number of repeats: repeats
    take the noise of the splits out of the mean, but not out of the one model that will be used.
    """

    names: tuple[str, ...]
    means: Vector
    rows: Vector
    splits: Vector
    floor: float
    repeats: NDArray[np.int64]
    degrees_of_freedom: float
    n_rows: int
    greater_is_better: bool = False
    deterministic: bool = False

    @cached_property
    def covariance(self) -> Vector:
        """Covariance of the posterior."""
        return self.rows + self.splits + self.floor * np.eye(len(self.names))

    @cached_property
    def costs(self) -> Vector:
        """The means turned so that less is better."""
        return -self.means if self.greater_is_better else self.means

    @property
    def best(self) -> str:
        """The contestant with the best mean; of equal ones the first."""
        return self.names[int(np.argmin(self.costs))]

    @cached_property
    def standard_errors(self) -> Vector:
        """Standard error of the difference of every pair."""
        if self.deterministic:
            return np.sqrt(_pair_variances(self.covariance))
        return self._pair_errors(self.covariance)

    def interval(self, name: str, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of one contestant's value.

        Parameters
        ----------
        name
            The contestant.
        confidence
            Probability that the interval holds.
        """
        place = self._place(name)
        spread = self._quantile(confidence) * float(np.sqrt(self.covariance[place, place]))
        return float(self.means[place] - spread), float(self.means[place] + spread)

    def difference(
        self, first: str, second: str, confidence: float = 0.95
    ) -> tuple[float, float, float]:
        """Return the difference first minus second, with its interval.

        Parameters
        ----------
        first, second
            The contestants.
        confidence
            Probability that the interval holds.
        """
        one, other = self._place(first), self._place(second)
        value = float(self.means[one] - self.means[other])
        spread = self._quantile(confidence) * float(self.standard_errors[one, other])
        return value, value - spread, value + spread

    def better_equal_worse(
        self, first: str, second: str, margin: float
    ) -> tuple[float, float, float]:
        """Return how probably the first is better than the second by more than a margin, and so on.

        Parameters
        ----------
        first, second
            The contestants.
        margin
            Differences up to this size do not matter.
        """
        one, other = self._place(first), self._place(second)
        ahead = float(self.costs[other] - self.costs[one])
        error = float(self.standard_errors[one, other])
        if error == 0.0:
            return float(ahead > margin), float(abs(ahead) <= margin), float(-ahead > margin)
        posterior = Student(self.degrees_of_freedom)
        better = float(posterior.sf((margin - ahead) / error))
        worse = float(posterior.cdf((-margin - ahead) / error))
        return better, max(0.0, 1.0 - better - worse), worse

    @cached_property
    def draws(self) -> Vector:
        """Draws from the posterior, turned so that less is better: a row per draw."""
        noise = self._noise(self.covariance, POSTERIOR_DRAWS, 0)
        return self.costs + noise

    def probabilities(self, margin: float) -> pd.DataFrame:
        """Return for each contestant how probably it is the best, and within a margin of the best.

        Parameters
        ----------
        margin
            Differences up to this size do not matter.

        Notes
        -----
        Contestants that are level in a draw share the probability of being the best in it. The
        draws have 0.6 of the covariance of the posterior: with all of it the probabilities of
        simulated studies, about several contestants at once, were too near to even.
        `regret` is the expected distance from the best.
        """
        draws = self.costs + np.sqrt(SHARE_FOR_BEST) * (self.draws - self.costs)
        behind = draws - draws.min(axis=1, keepdims=True)
        # Relative to the value itself: measures may be as small as they like.
        level = behind <= 1e-12 * np.abs(draws)
        return pd.DataFrame(
            {
                "best": (level / level.sum(axis=1, keepdims=True)).mean(axis=0),
                "within": (behind <= margin).mean(axis=0),
                "regret": behind.mean(axis=0),
            },
            index=pd.Index(self.names, name="contestant"),
        )

    def claims(
        self, alpha: float = 0.05, *, looks: Sequence[int] = (), random_state: Seed = 0
    ) -> pd.DataFrame:
        r"""Return every pair with a p-value that is adjusted for looking at all of them.

        Parameters
        ----------
        alpha
            Chance of claiming any difference where there is none, at any look.
        looks
            Numbers of repeats after which claims may be made, where repeats are added until the
            choice is settled; none for a single look.
        random_state
            Seed of the draws.

        Notes
        -----
        The largest of all :math:`|t_{ij}|` under equality is drawn from :math:`t_\nu(0, S + 3W +
        F)`; the adjusted p-value of a pair is the share of draws that exceed its own. The noise of
        the splits counts thrice, because the single estimate of it is too small for learners
        whose fits vary much from sample to sample: simulated trees that were truly equal were told
        apart in up to 9 % of the studies with S + W, and in at most 4 % at any look with S + 3W.

        Where repeats are added and looked at, the largest is also taken over all looks, as in a
        group-sequential test: each draw is what the last look would show, and an earlier one,
        after R instead of R' repeats, shows that and the noise of the splits that is not yet
        averaged out, :math:`N(0, 1.13\,W (1/R - 1/R'))`. Looks at the same rows are much alike, so
        that all of them cost far less than as many tests would.
        """
        first, second = np.triu_indices(len(self.names), 1)
        differences = self.means[first] - self.means[second]
        spreads = self._pair_errors(self._claim_covariance)[first, second]
        statistics = _ratio(np.abs(differences), spreads)
        largest = self._largest_ratios(random_state, looks)
        # Single-step maximum-t adjustment: a pair is compared with the largest of all pairs, which
        # carries their correlation and so is sharper than Bonferroni.
        exceeding = len(largest) - np.searchsorted(largest, statistics - 1e-9, side="left")
        # The observed value is one of the draws, so that no p-value is zero.
        p_values = (1.0 + exceeding) / (1.0 + len(largest))
        threshold = _upper_quantile(largest, alpha)
        leads = (differences > 0) == self.greater_is_better
        names = np.array(self.names, dtype=object)
        return pd.DataFrame(
            {
                "better": np.where(leads, names[first], names[second]),
                "worse": np.where(leads, names[second], names[first]),
                "difference": np.abs(differences),
                "low": np.abs(differences) - threshold * spreads,
                "high": np.abs(differences) + threshold * spreads,
                "adjusted_p": p_values,
                "claimed": p_values < alpha,
            }
        )

    def critical_value(
        self, alpha: float = 0.05, *, looks: Sequence[int] = (), random_state: Seed = 0
    ) -> float:
        """Return what a difference must exceed, in its standard errors, to be claimed.

        Parameters
        ----------
        alpha
            Chance of claiming any difference where there is none, at any look.
        looks
            Numbers of repeats after which claims may be made; none for a single look.
        random_state
            Seed of the draws.
        """
        return _upper_quantile(self._largest_ratios(random_state, looks), alpha)

    def share_interval(
        self, name: str, confidence: float = 0.95, *, n_rows: float | None = None
    ) -> tuple[float, float]:
        """Return the interval of a value that is a share of rows, which stays within 0 and 1.

        Parameters
        ----------
        name
            The contestant.
        confidence
            Probability that the interval holds.
        n_rows
            Rows that the share is worth, where classes weigh differently; None for all.

        Notes
        -----
        Wilson's interval for as many independent rows as would have the variance of the posterior;
        it has a width where a learner makes no error at all.
        """
        place = self._place(name)
        share, variance = float(self.means[place]), float(self.covariance[place, place])
        count = float(self.n_rows if n_rows is None else n_rows)
        if 0.0 < share < 1.0 and variance > 0.0:
            # As many rows as would give this variance if they were independent (the effective
            # sample size).
            count = min(count, max(1.0, share * (1.0 - share) / variance))
        else:
            # No variance tells what groups of rows would take from their number.
            count = min(count, float(self.n_rows))
        square = self._quantile(confidence) ** 2
        # Wilson's score interval, which does not leave 0 to 1 as the normal one does.
        centre = (share + square / (2 * count)) / (1 + square / count)
        within = share * (1 - share) / count + square / (4 * count**2)
        spread = float(np.sqrt(square * within)) / (1 + square / count)
        return max(0.0, centre - spread), min(1.0, centre + spread)

    @property
    def split_noise(self) -> Vector:
        """Covariance of the means over their repeats that comes from how the rows were split."""
        root = 1.0 / np.sqrt(self.repeats)
        return SPLIT_INFLATION * self.splits * root[:, None] * root[None, :]

    def other_means(self, noise: Vector, count: int, *, random_state: Seed = 0) -> Vector:
        """Return draws of the means, turned so that less is better, that other studies would give.

        Parameters
        ----------
        noise
            Covariance of the difference from such a study: `split_noise` for one with endlessly
            many repeats, twice that for one with as many.
        count
            Number of draws.
        random_state
            Seed.
        """
        return self.costs + _gaussian(noise, count, generator(random_state))

    def _place(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise DataError(f"{name!r} is none of {', '.join(self.names)}.") from None

    def _quantile(self, confidence: float) -> float:
        share = (1.0 - checked_level(confidence, "confidence")) / 2
        return float(Student(self.degrees_of_freedom).isf(share))

    def _pair_errors(self, covariance: Vector) -> Vector:
        # A difference that is the same on all of n rows is worth no more than n of its own size.
        least = np.abs(self.means[:, None] - self.means[None, :]) / self.n_rows
        return np.maximum(np.sqrt(_pair_variances(covariance)), least)

    def _noise(self, covariance: Vector, count: int, random_state: Seed) -> Vector:
        random = generator(random_state)
        scale = self._t_scale(count, random)
        return _gaussian(covariance, count, random) * scale

    def _t_scale(self, count: int, random: np.random.Generator) -> Vector:
        # A multivariate t is a normal vector over the root of an independent mean chi-square.
        freedom = self.degrees_of_freedom
        return np.sqrt(freedom / random.chisquare(freedom, size=(count, 1)))

    @property
    def _claim_covariance(self) -> Vector:
        return self.rows + SPLITS_IN_CLAIMS * self.splits + self.floor * np.eye(len(self.names))

    def _largest_ratios(self, random_state: Seed, looks: Sequence[int] = ()) -> Vector:
        """Return, in order, the largest standardised difference of any pair in each draw."""
        counts = _checked_looks(looks)
        pairs = len(self.names) * (len(self.names) - 1) // 2
        if not pairs:
            return np.zeros(0)
        covariance = self._claim_covariance
        if not covariance.any():
            # Nothing varies: differences still count by the number of rows, as any t would.
            covariance = np.eye(len(self.names))
        spreads = np.sqrt(_pair_variances(covariance))
        count = min(CLAIM_DRAWS, max(1000, MOST_DRAWN // pairs))
        random = generator(random_state)
        scale = self._t_scale(count, random)
        normal = _gaussian(covariance, count, random)
        ratios = _largest_of_pairs(normal * scale, spreads)
        if self.splits.any():
            for later, earlier in pairwise(counts):
                # What the further repeats would still take out of the means.
                left = SPLIT_INFLATION * self.splits * (1.0 / earlier - 1.0 / later)
                normal = normal + _gaussian(left, count, random)
                np.maximum(ratios, _largest_of_pairs(normal * scale, spreads), out=ratios)
        return np.sort(ratios)


def joint_posterior(
    values: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    means: ArrayLike | None = None,
    greater_is_better: bool = False,
    heavy_tails: bool = False,
) -> JointPosterior:
    r"""Return the joint posterior of contestants that were validated on the same rows.

    Parameters
    ----------
    values
        What each row contributes to the measure: repeats x rows x contestants, NaN in repeats
        that a contestant does not have. For a measure that is a smooth function of means, such as
        a root mean squared error, the influence of each row on it.
    names
        The contestants.
    means
        Values of the measure, where they are not the means of `values`.
    greater_is_better
        Direction of the measure.
    heavy_tails
        Whether to count degrees of freedom by the tails of `values`, which unbounded losses need:
        :math:`2n / (\kappa - 1)` with their kurtosis :math:`\kappa`, at most :math:`n - 1`.

    Notes
    -----
    With losses :math:`L_{rij}` of contestant j on row i in repeat r,

    .. math:: S = \operatorname{mean}_r \operatorname{cov}_i(L_{ri\cdot}) / n, \qquad
        W = \frac{\sum_{ri} (L_{ri\cdot} - \bar L_{i\cdot})(L_{ri\cdot} - \bar L_{i\cdot})^T}
        {(R - 1) n^2}, \qquad F = \frac{2 \operatorname{tr} S}{J n} I,

    where F counts no contestant for more than 100 times what is usual among them. Losses are not
    averaged over the repeats before their variance is taken: that is too small. One repeat tells
    nothing of the splits, and W is taken to be half of S.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import joint_posterior
    >>> random = np.random.default_rng(0)
    >>> hard = random.random(200)
    >>> losses = [[hard + random.normal(0, 0.1, 200) > cut for cut in (0.8, 0.7)] for _ in range(2)]
    >>> posterior = joint_posterior(np.swapaxes(losses, 1, 2), ["tree", "line"])
    >>> low, high = posterior.interval("tree")
    >>> print(f"tree {posterior.means[0]:.3f} ({low:.3f} to {high:.3f})")
    tree 0.258 (0.185 to 0.330)
    >>> print(posterior.claims().round(3).to_string(index=False))
    better worse  difference   low  high  adjusted_p  claimed
      tree  line       0.105 0.005 0.205       0.039     True
    """
    losses = _checked_values(values)
    present: NDArray[np.bool_] = np.asarray(~np.isnan(losses).any(axis=1))
    if not present.any(axis=0).all():
        raise DataError("values: a contestant has no repeat on all rows.")
    n_rows, count = losses.shape[1:]
    labels = tuple(f"contestant {place}" for place in range(count)) if names is None else names
    if len(labels) != count:
        raise DataError(f"names has {len(labels)} names, but values has {count} contestants.")
    repeats = present.sum(axis=0)
    averages = np.nansum(np.where(present[:, None, :], losses, np.nan), axis=(0, 1))
    estimates = averages / (repeats * n_rows) if means is None else np.asarray(means, np.float64)
    rows, splits = _covariances(losses, present)
    alone = repeats < 2
    splits[np.ix_(alone, alone)] = UNKNOWN_SPLITS * rows[np.ix_(alone, alone)]
    return JointPosterior(
        tuple(str(name) for name in labels),
        estimates,
        rows,
        splits,
        _floor(np.diag(rows), 2.0 / n_rows),
        repeats.astype(np.int64),
        _degrees(losses, present, n_rows, heavy_tails=heavy_tails),
        n_rows,
        greater_is_better,
    )


def split_posterior(
    scores: ArrayLike,
    names: Sequence[str],
    *,
    test_share: float,
    greater_is_better: bool = False,
    deterministic: bool = False,
) -> JointPosterior:
    r"""Return the joint posterior of contestants of whom only the scores of splits are known.

    Parameters
    ----------
    scores
        A row per split, a column per contestant.
    names
        The contestants.
    test_share
        Share of the validated rows in a split; 0 where splits share no rows at all.
    greater_is_better
        Direction of the measure.
    deterministic
        Whether scores that never vary mean that they never would, as those of agents over seeds.

    Notes
    -----
    The corrected resampled t test for all contestants at once: the covariance of the means of k
    splits is :math:`(1/k + \rho/(1-\rho))` times that of the scores, with k - 1 degrees of
    freedom, where :math:`\rho` is the share of validated rows.

    Examples
    --------
    >>> from verulam.statistics import split_posterior
    >>> scores = [[0.2, 0.3], [0.25, 0.3], [0.2, 0.35], [0.3, 0.35]]
    >>> posterior = split_posterior(scores, ["tree", "line"], test_share=0.25)
    >>> print("{:.3f} ({:.3f} to {:.3f})".format(*posterior.difference("line", "tree")))
    0.087 (-0.029 to 0.204)
    """
    table = any_numbers(scores, "scores")
    if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
        raise DataError("scores: expected numbers of at least 2 splits, a column per contestant.")
    _refuse_extreme(table, "scores")
    if len(names) != table.shape[1]:
        raise DataError(
            f"names has {len(names)} names, but scores has {table.shape[1]} contestants."
        )
    if not 0.0 <= test_share < 1.0:
        raise DataError(f"test_share must be at least 0 and below 1, but is {test_share}.")
    count, contestants = table.shape
    # Nadeau and Bengio's correction for training parts that overlap.
    factor = 1.0 / count + test_share / (1.0 - test_share)
    rows = factor * np.cov(table, rowvar=False).reshape(contestants, contestants)
    return JointPosterior(
        tuple(str(name) for name in names),
        table.mean(axis=0),
        rows,
        np.zeros_like(rows),
        _floor(np.diag(rows), SPLIT_FLOOR),
        np.ones(contestants, dtype=np.int64),
        count - 1,
        count,
        greater_is_better,
        deterministic,
    )


def _checked_values(values: ArrayLike) -> Vector:
    losses = any_numbers(values, "values")
    if losses.ndim != 3 or 0 in losses.shape or losses.shape[1] < 2:
        raise DataError(
            f"values: expected repeats x rows x contestants with at least 2 rows, but the shape is "
            f"{losses.shape}."
        )
    if np.isinf(losses).any():
        raise DataError("values: some are infinite.")
    _refuse_extreme(losses, "values")
    return losses


def _refuse_extreme(values: Vector, name: str) -> None:
    """Raise where squares would be too large or too small to be told from infinity or nothing."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if largest > LARGEST or 0.0 < largest < SMALLEST:
        size = "large" if largest > LARGEST else "small"
        raise DataError(f"{name}: too {size} to be squared; divide all by a constant first.")


def _floor(variances: Vector, share: float) -> float:
    """Return the variance that is added to all: a share of their mean, extremes held back."""
    positive = np.sort(variances[variances > 0])
    if not len(positive):
        return 0.0
    # The lower median: of two contestants, a diverging one must not set what is usual.
    usual = positive[(len(positive) - 1) // 2]
    return share * float(np.minimum(variances, MOST_TIMES_USUAL * usual).mean())


def _covariances(losses: Vector, present: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Return the covariances of rows and of splits, each pair from the repeats that both have."""
    count, n_rows = losses.shape[2], losses.shape[1]
    rows, splits = np.zeros((count, count)), np.zeros((count, count))
    # Contestants that lack the same repeats share one block of products: a few large matrix
    # products instead of one per pair.
    patterns, owner = np.unique(present.T, axis=0, return_inverse=True)
    owner = owner.ravel()
    for one, other in product(range(len(patterns)), repeat=2):
        shared = patterns[one] & patterns[other]
        if not shared.any():
            continue
        block = np.ix_(owner == one, owner == other)
        left = losses[shared][:, :, owner == one]
        # Copies of all rows, contestants and repeats take memory: a block with itself needs one.
        right = left if one == other else losses[shared][:, :, owner == other]
        centred = left - left.mean(axis=1, keepdims=True)
        partner = centred if one == other else right - right.mean(axis=1, keepdims=True)
        products = np.einsum("rij,rik->jk", centred, partner, optimize=True)
        rows[block] = products / (shared.sum() * (n_rows - 1) * n_rows)
        if shared.sum() > 1:
            del centred, partner
            moved = left - left.mean(axis=0)
            beside = moved if one == other else right - right.mean(axis=0)
            products = np.einsum("rij,rik->jk", moved, beside, optimize=True)
            splits[block] = products / ((shared.sum() - 1) * n_rows**2)
    return rows, splits


def _degrees(
    losses: Vector, present: NDArray[np.bool_], n_rows: int, *, heavy_tails: bool
) -> float:
    if not heavy_tails:
        return float(n_rows - 1)
    centred = np.where(present[:, None, :], losses, np.nan)
    centred = centred - np.nanmean(centred, axis=(0, 1))
    largest = np.nanmax(np.abs(centred), axis=(0, 1))
    if not largest.any():
        return float(n_rows - 1)
    # In units of the largest, so that a fourth power is not too large for a number.
    centred = centred[:, :, largest > 0] / largest[largest > 0]
    second = np.nanmean(centred**2, axis=(0, 1))
    fourth = np.nanmean(centred**4, axis=(0, 1))
    kurtosis = float(np.median(fourth / second**2))
    return float(np.clip(2.0 * n_rows / max(kurtosis - 1.0, 1e-12), 4.0, n_rows - 1))


def _checked_looks(looks: Sequence[int]) -> list[int]:
    """Return the numbers of repeats of the looks, each once, the last look first."""
    counts = list(looks) if COLLECTION.accepts(looks) else None
    if counts is None or not all(map(COUNT.accepts, counts)):
        raise DataError(f"looks must be a list of whole numbers, 1 or more; got {looks!r}.")
    return sorted(set(counts), reverse=True)


def _upper_quantile(values: Vector, alpha: float) -> float:
    """Return what a share of the values exceeds; infinity where there are none."""
    share = 1.0 - checked_level(alpha)
    return float(np.quantile(values, share)) if len(values) else float("inf")


def _pair_variances(covariance: Vector) -> Vector:
    """Return the variance of the difference of every pair."""
    variances = np.diag(covariance)
    squares = variances[:, None] + variances[None, :] - 2.0 * covariance
    np.fill_diagonal(squares, 0.0)
    return np.maximum(squares, 0.0)


def _largest_of_pairs(draws: Vector, spreads: Vector) -> Vector:
    """Return for each draw the largest difference of any pair, in units of its spread."""
    # Pair by pair on whole columns, which stay in the cache: a tenth of the time of all at once.
    columns = np.ascontiguousarray(draws.T)
    largest = np.zeros(len(draws))
    for first, second in combinations(range(len(columns)), 2):
        if spreads[first, second] > 0:
            ratio = np.abs(columns[first] - columns[second]) / spreads[first, second]
            np.maximum(largest, ratio, out=largest)
    return largest


def _gaussian(covariance: Vector, count: int, random: np.random.Generator) -> Vector:
    """Return draws with a covariance whose estimate need not be quite positive definite."""
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    # By correlations, or the rounding of one that varies wildly would swamp the others.
    scales = np.where(deviations > 0, deviations, 1.0)
    correlations = (covariance + covariance.T) / 2 / scales[:, None] / scales[None, :]
    values, vectors = np.linalg.eigh(correlations)
    # What rounding leaves would have copies differ.
    values = np.where(values > 1e-13 * values.max(), values, 0.0)
    root = deviations[:, None] * vectors * np.sqrt(values)
    return random.standard_normal((count, len(values))) @ root.T


def _ratio(differences: Vector, errors: Vector) -> Vector:
    """Return differences in standard errors; nothing over nothing is nothing."""
    errors = np.broadcast_to(errors, differences.shape)
    return np.divide(differences, errors, out=np.zeros_like(differences), where=errors > 0)
