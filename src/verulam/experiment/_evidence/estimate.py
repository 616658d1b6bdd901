"""Estimates from stored runs: the joint posterior of all contestants, and what matters."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import DataError
from verulam.experiment._evidence.evidence import DEFAULT_RULE, MOST_REPEATS, Evidence, selection_of
from verulam.experiment._resampling.kinds import INDEPENDENT
from verulam.experiment._resampling.resampling import Resampling, resampling
from verulam.experiment._store.row_values import (
    EVERY_ROW_ONCE,
    LARGEST,
    SMALLEST,
    RowValues,
    ValidatedTargets,
    row_values,
)
from verulam.statistics import (
    UNKNOWN_SPLITS,
    JointPosterior,
    joint_posterior,
    split_posterior,
)

if TYPE_CHECKING:
    from verulam.experiment._store.responses import Responses
    from verulam.experiment._store.results import Results
    from verulam.measures import Measure

#: Of shares such as an error, one percentage point.
POINT = 0.01
#: Of other measures, this part of what guessing without inputs scores.
SHARE_OF_BASELINE = 0.01
#: Of those that grow with the square of an error, or with its logarithm, twice that.
SHARE_OF_SQUARES = 0.02
#: Seeds from which on scores that never vary are taken for certain.
FEWEST_CERTAIN = 10
_SQUARES = frozenset(
    ["log_loss", "brier", "mean_squared_error", "half_sum_of_squares", "relative_square_error"]
)
#: Means of logarithms of densities, of which units change the value but no difference.
_LOGARITHMS = frozenset(["log_likelihood", "predictive_log_loss"])
#: Sums over the tested rows, of which a split has fewer than there are.
_SUMS = frozenset(["half_sum_of_squares", "epsilon_error"])


def evidence_of(
    results: "Results",
    responses: "Responses",
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
        values = tables.get(data) if by_rows else None
        together = grouped.get(data, bool(how.groups))
        if values is not None and together and not values.in_groups:
            # Of an older store, which does not say which: its rows tell less than they seem to.
            values = None
        posterior, noise = _posterior(responses, data, how, values)
        if posterior is None:
            continue
        margin = matters
        if margin is None:
            margin = default_margin(responses.measure, targets[data], posterior.means)
        level = alpha
        if how.kind == "seeds" and how.max_repeats:
            # Seeds are looked at as they come: a look spends its share of the level (Pocock).
            level = alpha * float(np.log1p(np.expm1(1.0) / how.max_repeats))
        evidence[data] = _evidence_on(
            responses, data, posterior, noise, complexity, margin, level, rule, how, values
        )
    return evidence


def _posterior(
    responses: "Responses", data: str, how: Resampling, values: RowValues | None
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
            # A loss without an upper end can have rows that outweigh all others.
            heavy_tails=not np.isfinite(measure.range).all(),
        )
        posterior = _of_other_splits(posterior, values.repeats)
        # Leaving each row out once can be done in one way only.
        certain = np.zeros_like(posterior.splits) if how.kind == "leave-one-out" else None
        return posterior, certain
    table = responses.by_split(data)
    # Scores whose squares overflow are as good as missing.
    table = table.where(table.abs() <= LARGEST)
    complete = table[[name for name in table if name not in responses.with_failures(data)]].dropna()
    if len(complete) < 2 or complete.empty:
        # Where no two splits have all of them, those that have the most splits are left.
        complete = table.loc[:, table.notna().sum() == table.notna().sum().max()].dropna()
    if len(complete) < 2 or 0.0 < complete.abs().to_numpy().max() < SMALLEST:
        return None, None
    # Parts that share no rows need no correction of the variance (Nadeau and Bengio's).
    share = 0.0 if how.kind in INDEPENDENT else responses.test_shares[data]
    posterior = split_posterior(
        complete.to_numpy(np.float64),
        [str(name) for name in complete.columns],
        test_share=share,
        greater_is_better=measure.greater_is_better,
        # Few seeds may agree by chance.
        deterministic=how.kind == "seeds" and len(complete) >= FEWEST_CERTAIN,
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
    if how.kind == "seeds":
        posterior = replace(posterior, repeats=np.full_like(posterior.repeats, repeats))
    return posterior, noise


def _of_other_splits(posterior: JointPosterior, repeats: NDArray[np.int64]) -> JointPosterior:
    """Return a posterior in which replications, with other seeds, do not pass for other splits."""
    once = (repeats == 1) & (posterior.repeats > 1)
    splits = posterior.splits.copy()
    # Another seed moves a learner, but not the rows: what other splits would do is still unknown.
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
    if how.kind == "seeds":
        # Other seeds are all that could be otherwise: their noise is all there is.
        return posterior.covariance
    means = scores.groupby(level="repeat").mean()
    count = len(means)
    if count < 2:
        return UNKNOWN_SPLITS * posterior.rows
    # One split a repeat, as in a repeated hold-out: the scatter of the repeats says it all.
    if count == len(scores):
        return np.atleast_2d(np.cov(scores, rowvar=False)) / count
    within = scores - scores.groupby(level="repeat").transform("mean")
    form = within.T.to_numpy() @ within.to_numpy() / (len(scores) - count) / (len(scores) / count)
    total = float(np.trace(form))
    ratio = float(means.var().sum()) / total if total > 0 else 0.0
    # A ratio shrunk to that of one repeat, which counts as one beside count - 1 degrees of
    # freedom; then over the count, for the variance of a mean of as many repeats.
    return form * (UNKNOWN_SPLITS + (count - 1) * ratio) / count / count


def _evidence_on(
    responses: "Responses",
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
    # Where all have failed somewhere, nobody is to be preferred for it.
    eligible = tuple(name for name in posterior.names if name not in failed) or posterior.names
    baselines = [contestant.name for contestant in responses.contestants if contestant.baseline]
    baseline = next((name for name in baselines if name in posterior.names), None)
    # What later repeats may still change counts up to the most that the study may have.
    most = how.max_repeats or max(how.repeats, MOST_REPEATS)
    selection = selection_of(
        posterior,
        complexity,
        eligible,
        margin,
        rule,
        max_repeats=most,
        sequential=how.max_repeats is not None,
        noise=noise,
    )
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
        selection,
        None if values is None else values.values,
        None if values is None else values.worth,
        frozenset() if values is None else values.counting,
        "group" if values is not None and values.in_groups else "row",
        _looks(how),
    )


def _looks(how: Resampling) -> tuple[int, ...]:
    """Return after which repeats a study may end; none where it is known from the start."""
    if how.max_repeats is None or how.kind == "seeds":
        return ()  # seeds have no splits: the level of each look is a share of it
    return tuple(range(how.repeats, how.max_repeats + 1))


def default_margin(measure: "Measure", targets: ValidatedTargets, scores: np.ndarray) -> float:
    """Return the difference below which two contestants are as good as equal.

    Parameters
    ----------
    measure
        What is measured.
    targets
        The rows that are validated on.
    scores
        Values of the contestants, for measures of which guessing has none.

    Notes
    -----
    One percentage point for shares, and of other measures with two ends 1 % of the way between
    them. Else 1 % of what guessing without inputs scores (the mean for numbers, the shares of the
    classes for probabilities), and 2 % for measures of squares and logarithms: about 0.6 of the
    usual distance between the best and the second. Where guessing has no score, the median of the
    contestants stands for it, which one that diverges does not move. Of rewards it is 1 % of what
    the best agent gets, of log-likelihoods 0.02, a density 2 % larger.
    """
    low, high = measure.range
    name = _plain_name(measure)
    if name in _LOGARITHMS:
        return SHARE_OF_SQUARES
    if measure.task == "control":
        # Agents that fail altogether must not say what matters among those that do not.
        best = np.nanmax(scores) if measure.greater_is_better else np.nanmin(scores)
        return SHARE_OF_BASELINE * abs(float(best))
    if np.isfinite(low) and np.isfinite(high) and name not in _SQUARES:
        return POINT * (high - low)
    share = SHARE_OF_SQUARES if name in _SQUARES else SHARE_OF_BASELINE
    # A sum grows with the rows, and that of all rows is not that of a split.
    guess = None if name in _SUMS else _guess(measure, targets)
    if guess is not None:
        return share * abs(guess - measure.perfect if np.isfinite(measure.perfect) else guess)
    # The median, which one contestant that diverges does not move.
    known = np.abs(scores[np.isfinite(scores)])
    return share * float(np.median(known)) if len(known) else 0.0


def _plain_name(measure: "Measure") -> str:
    """Return the name of a measure without its options."""
    return measure.name.partition("(")[0]


def _guess(measure: "Measure", targets: ValidatedTargets) -> float | None:
    """Return what guessing without inputs scores; None where the measure has no value for it."""
    known, classes = targets.targets, targets.classes
    try:
        if measure.task == "regression":
            value = measure.weighted(known, np.full(known.shape, known.mean(axis=0)), None)
        else:
            codes = known.astype(np.int64)
            counts = np.bincount(codes, minlength=len(classes))
            if measure.needs == "probabilities":
                prediction = np.tile(counts / counts.sum(), (len(codes), 1))
            elif measure.needs == "labels":
                prediction = np.full(len(codes), classes[counts.argmax()])
            else:
                return None
            value = measure(classes[codes], prediction, labels=classes.tolist())
    except (DataError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError):
        return None  # a measure of one's own that cannot judge a guess
    return float(value) if np.isfinite(value) else None
