"""The factors of a study: parameters, training shares and data sets, each with its effects."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._design.factors import Factor
from verulam.experiment._design.response_surface import ResponseSurface, fit_response_surface
from verulam.experiment._effects.data_effects import effects_over_data, interaction_residual
from verulam.experiment._effects.effects import (
    FactorEffects,
    Source,
    factor_effects,
    variance_table,
)
from verulam.experiment._store.responses import Responses, StoredContestant

#: Names of the factors that are not parameters.
LEARNER, SHARE = "learner", "training share"
#: A surface needs at least this many levels of each factor, and at most so many factors.
FEWEST_LEVELS, MOST_FACTORS = 3, 5


def study_effects(responses: Responses, resampling: str) -> tuple[FactorEffects, ...]:
    """Return the effects of everything that a study varies.

    Parameters
    ----------
    responses
        The scores.
    resampling
        Kind of resampling, which tells whether splits share rows.
    """
    found: list[FactorEffects] = []
    for data in responses.data:
        overlap = overlap_of_splits(responses, data, resampling)
        table = responses.by_split(data)
        groups = [(table, *group) for group in _parameter_groups(responses.contestants)]
        groups += _share_groups(responses, data)
        for scores, title, settings in groups:
            if len(settings) < 2 or scores.empty:
                continue
            try:
                effects = factor_effects(
                    scores, settings, scope=f"{title} on {data}", overlap=overlap
                )
            except DataError:  # no split has every setting, and the notes of the study say so
                continue
            if effects.factors:
                found.append(effects)
    overlaps = {data: overlap_of_splits(responses, data, resampling) for data in responses.data}
    return (*effects_over_data(responses, overlaps), *found)


def data_interaction(responses: Responses, resampling: str) -> pd.DataFrame | None:
    """Return the analysis of variance of contestants and data sets; None where it has gaps.

    Parameters
    ----------
    responses
        The scores.
    resampling
        Kind of resampling.

    Notes
    -----
    Splits are blocks within their data set. The interaction tells whether the order of the
    contestants depends on the data set (Alpaydin 19.12). There is no row for data sets, since
    their responses cannot be compared.
    """
    tables = [responses.by_split(data).dropna() for data in responses.data]
    names = list(tables[0].columns)
    if len(tables) < 2 or len(names) < 2:
        return None
    if any(list(table.columns) != names or len(table) < 2 for table in tables):
        return None
    counts = np.array([len(table) for table in tables])
    means = np.array([table.mean().to_numpy() for table in tables])
    centred = means - means.mean(axis=1, keepdims=True)
    common = centred.mean(axis=0)
    # Each data set counts alike, however many splits it has.
    weight = len(counts) / float((1.0 / counts).sum())
    residual = sum(interaction_residual(table.to_numpy()) for table in tables)
    freedom = len(names) - 1
    squares = (weight * len(tables) * (common**2).sum(), weight * ((centred - common) ** 2).sum())
    overlap = np.mean([overlap_of_splits(responses, data, resampling) for data in responses.data])
    sources = [
        Source("contestants", float(squares[0]), freedom),
        Source("contestants x data sets", float(squares[1]), freedom * (len(tables) - 1)),
        Source("error", residual, int((counts - 1).sum()) * freedom, tested=False),
    ]
    return variance_table(sources, 1.0 + weight * float(overlap))


def surface_of(effects: FactorEffects) -> ResponseSurface | None:
    """Return the quadratic through the mean responses of settings; None where none fits.

    Parameters
    ----------
    effects
        Effects of factors that may all be numbers.
    """
    settings = effects.settings
    if len(effects.factors) > MOST_FACTORS:
        return None
    factors = []
    for name in effects.factors:
        levels = sorted(set(settings[name])) if _numbers(settings[name]) else []
        if len(levels) < FEWEST_LEVELS:
            return None
        kind: Any = "log" if _reads_better_as_log(levels) else "numeric"
        factors.append(Factor(name, levels, kind))
    try:
        columns = settings[list(effects.factors)].astype(float)
        return fit_response_surface(columns, settings["mean"], factors)
    except (DataError, ValueError):  # too few settings for a quadratic
        return None


def _parameter_groups(
    contestants: Sequence[StoredContestant],
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the settings of all learners that vary the same, then those of each learner."""
    by_learner: dict[str, list[StoredContestant]] = {}
    for each in contestants:
        if each.levels:
            by_learner.setdefault(each.learner, []).append(each)
    alike: dict[frozenset[str], list[str]] = {}
    for learner, settings in by_learner.items():
        key = frozenset(repr(sorted(each.levels.items())) for each in settings)
        alike.setdefault(key, []).append(learner)
    for learners in alike.values():
        if len(learners) > 1:
            chosen = [each for learner in learners for each in by_learner[learner]]
            rows = [{LEARNER: each.learner, **each.levels} for each in chosen]
            yield ", ".join(learners), _settings(rows, [each.name for each in chosen])
    for learner, settings in by_learner.items():
        yield (
            learner,
            _settings([dict(each.levels) for each in settings], [each.name for each in settings]),
        )


def _settings(rows: list[dict[str, Any]], names: list[str]) -> pd.DataFrame:
    """Return levels as they are: numbers of one column are not made alike."""
    return pd.DataFrame(rows, index=pd.Index(names, name="contestant"), dtype=object)


def _share_groups(
    responses: Responses, data: str
) -> Iterator[tuple[pd.DataFrame, str, pd.DataFrame]]:
    scores = responses.shared_out[responses.shared_out["data"] == data]
    if scores["share"].nunique() < 2:
        return
    table = scores.pivot_table(
        index=["repeat", "fold"], columns=["contestant", "share"], values="score", observed=True
    )
    pairs = [
        (name, share)
        for name in responses.names
        for share in sorted(scores["share"].unique())
        if (name, share) in table.columns
    ]
    names = [f"{name} {share:g}" for name, share in pairs]
    table = table[pairs].set_axis(names, axis=1)
    rows = [{LEARNER: name, SHARE: float(share)} for name, share in pairs]
    yield table, "Training shares", _settings(rows, names)


def overlap_of_splits(responses: Responses, data: str, resampling: str) -> float:
    """Return rows tested over rows learnt from; 0 where splits share no rows.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    resampling
        Kind of resampling.
    """
    share = responses.test_shares.get(data, 0.0)
    return 0.0 if resampling == "disjoint" else share / (1.0 - share)


def _numbers(levels: pd.Series) -> bool:
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def _reads_better_as_log(levels: Sequence[float]) -> bool:
    """Return whether the middle level is nearer to the middle of the range after logarithms."""
    if levels[0] <= 0:
        return False
    plain, logged = np.array(levels, dtype=np.float64), np.log(levels)
    return bool(_skewness(logged) < _skewness(plain))


def _skewness(levels: np.ndarray) -> float:
    middle = (levels[0] + levels[-1]) / 2
    return abs(float(np.median(levels)) - middle) / float(levels[-1] - levels[0])
