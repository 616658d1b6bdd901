"""The factors of a study: parameters, training shares and data sets, each with its effects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.design import ResponseSurface
from verulam.experiment._effects.effect_surface import effect_remarks
from verulam.experiment._effects.effects import (
    MOST_SETTINGS,
    Decomposition,
    FactorEffects,
    Source,
    Term,
    contrasts,
    distinct_levels,
    factor_effects,
    variance_table,
)
from verulam.experiment._resampling.kinds import INDEPENDENT

if TYPE_CHECKING:
    from verulam.experiment._store.responses import Responses, StoredContestant

#: Names of the factors that are not parameters.
LEARNER, SHARE = "learner", "training share"
DATA_SET = "data set"
#: Cells times the square of the levels of all factors: more would take longer than it is worth.
MOST_WORK = 1e9
ABOUT_MEANS = (
    "Means are differences from the mean of each data set: responses on different data sets cannot "
    "be compared, so that data sets have no row of their own."
)


def study_effects(responses: "Responses", resampling: str) -> tuple[FactorEffects, ...]:
    """Return the effects of everything that a study varies.

    Parameters
    ----------
    responses
        The scores.
    resampling
        Kind of resampling, which tells whether splits share rows.
    """
    analysed: list[FactorEffects] = []
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
                analysed.append(effects)
    overlaps = {data: overlap_of_splits(responses, data, resampling) for data in responses.data}
    together = (*effects_over_data(responses, overlaps), *analysed)
    return tuple(
        replace(effects, notes=(*effect_remarks(effects), *effects.notes)) for effects in together
    )


def data_interaction(responses: "Responses", resampling: str) -> pd.DataFrame | None:
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
    # With gaps, contestants would be confounded with data sets.
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
    return effects.surface


def _parameter_groups(
    contestants: Sequence["StoredContestant"],
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the settings of all learners that vary the same, then those of each learner."""
    by_learner: dict[str, list[StoredContestant]] = {}
    for contestant in contestants:
        if contestant.levels:
            by_learner.setdefault(contestant.learner, []).append(contestant)
    alike: dict[frozenset[str], list[str]] = {}
    for learner, settings in by_learner.items():
        # Learners with the same settings are compared as if the learner were a factor, too.
        key = frozenset(repr(sorted(setting.levels.items())) for setting in settings)
        alike.setdefault(key, []).append(learner)
    for learners in alike.values():
        if len(learners) > 1:
            alike_settings = [setting for learner in learners for setting in by_learner[learner]]
            rows = [{LEARNER: setting.learner, **setting.levels} for setting in alike_settings]
            yield ", ".join(learners), _settings(rows, [setting.name for setting in alike_settings])
    for learner, settings in by_learner.items():
        yield (
            learner,
            _settings(
                [dict(setting.levels) for setting in settings],
                [setting.name for setting in settings],
            ),
        )


def _settings(rows: list[dict[str, Any]], names: list[str]) -> pd.DataFrame:
    """Return levels as they are: numbers of one column are not made alike."""
    return pd.DataFrame(rows, index=pd.Index(names, name="contestant"), dtype=object)


def _share_groups(
    responses: "Responses", data: str
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


def overlap_of_splits(responses: "Responses", data: str, resampling: str) -> float:
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
    return 0.0 if resampling in INDEPENDENT else share / (1.0 - share)


def effects_over_data(responses: "Responses", overlaps: Mapping[str, float]) -> list[FactorEffects]:
    """Return for each learner with factors their effects over all data sets.

    Parameters
    ----------
    responses
        The scores.
    overlaps
        For each data set rows tested over rows learnt from, where its splits share rows.
    """
    analysed = []
    learners = dict.fromkeys(
        contestant.learner for contestant in responses.contestants if contestant.levels
    )
    for learner in learners if len(responses.data) > 1 else ():
        settings = responses.settings_of(learner)
        tables = {data: _complete(responses, data, settings) for data in responses.data}
        tables = {data: table for data, table in tables.items() if table.shape[1] > 1}
        if len(tables) > 1 and all(len(table) > 1 for table in tables.values()):
            scope = f"{learner} over {len(tables)} data sets"
            effects = _effects(scope, settings, tables, overlaps)
            if effects is not None:
                analysed.append(effects)
    return analysed


def _complete(
    responses: "Responses", data: str, settings: Sequence["StoredContestant"]
) -> pd.DataFrame:
    table = responses.by_split(data)
    return table[[setting.name for setting in settings if setting.name in table.columns]].dropna()


def _effects(
    scope: str,
    settings: Sequence["StoredContestant"],
    tables: Mapping[str, pd.DataFrame],
    overlaps: Mapping[str, float],
) -> FactorEffects | None:
    r"""Analyse the variance of mean responses with data sets as blocks.

    A cell is a setting on a data set. Cells are weighted by the number of splits, and everything
    is centred within its data set; what settings and splits do together, data set by data set, is
    the error.
    """
    levels = {setting.name: setting.levels for setting in settings}
    cells = pd.DataFrame(
        [
            {**levels[str(name)], DATA_SET: data, "mean": mean, "splits": len(table)}
            for data, table in tables.items()
            for name, mean in table.mean().items()
        ],
        dtype=object,
    )
    names = [
        name
        for name in dict.fromkeys(name for setting in settings for name in setting.levels)
        if len(distinct_levels(cells[name])) > 1
    ]
    # The singular values of all columns together are what takes the time.
    columns = sum(len(distinct_levels(cells[name])) for name in names)
    if not names or len(cells) * columns**2 > MOST_WORK:
        return None
    blocks = pd.factorize(cells[DATA_SET])[0]
    # Centring within data sets takes out their main effect, as fitting it would.
    means = _centred(cells["mean"].to_numpy(dtype=np.float64)[:, np.newaxis], blocks)[:, 0]
    # A mean over n splits has an n-th of the variance: weighted least squares.
    weights = np.sqrt(cells["splits"].to_numpy(dtype=np.float64))
    terms = [
        replace(term, columns=_centred(term.columns, blocks) * weights[:, np.newaxis])
        for term in _terms(cells, names)
    ]
    terms = [term for term in terms if np.abs(term.columns).max() > 0]
    explained = Decomposition(means * weights, 1).explained(terms)
    between = float(((means * weights) ** 2).sum())
    freedom = len(cells) - len(tables) - explained.together.degrees_of_freedom
    sources = list(explained.sources)
    if freedom > 0:
        rest = max(between - explained.together.sum_of_squares, 0.0)
        sources.append(Source("other", rest, freedom))
    error = sum(interaction_residual(table.to_numpy()) for table in tables.values())
    error_freedom = sum((len(table) - 1) * (table.shape[1] - 1) for table in tables.values())
    sources.append(Source("error", error, error_freedom, tested=False))
    # The harmonic mean stands for unequal numbers of splits: it is variances that are averaged.
    splits = len(tables) / sum(1.0 / len(table) for table in tables.values())
    scale = 1.0 + splits * float(np.mean([overlaps[data] for data in tables]))
    return FactorEffects(
        scope,
        tuple(names),
        variance_table(sources, scale),
        {name: _level_means(cells[name], means) for name in names},
        pd.DataFrame(columns=["effect", "standard_error"], dtype=float),
        explained.aliases,
        cells[[*names, DATA_SET]].assign(mean=means),
        (*explained.notes, ABOUT_MEANS),
    )


def _terms(cells: pd.DataFrame, names: Sequence[str]) -> Iterator[Term]:
    """Yield main effects, then interactions of two factors and those with the data set."""
    coded = {name: contrasts(cells[name]) for name in [*names, DATA_SET]}
    for name in names:
        yield Term(name, (name,), coded[name])
    pairs = combinations([*names, DATA_SET], 2)
    for first, second in pairs if len(cells) <= MOST_SETTINGS else ():
        products = np.einsum("ij,ik->ijk", coded[first], coded[second])
        columns = products.reshape(len(cells), -1)
        yield Term(f"{first} x {second}", (first, second), columns)


def _centred(columns: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    sums = np.zeros((blocks.max() + 1, columns.shape[1]))
    np.add.at(sums, blocks, columns)
    return columns - (sums / np.bincount(blocks)[:, np.newaxis])[blocks]


def _level_means(levels: pd.Series, means: np.ndarray) -> pd.Series:
    """Return the mean at each level, in the order in which levels come first."""
    codes, _ = pd.factorize(levels.map(repr))
    first = np.unique(codes, return_index=True)[1]
    level_means = np.bincount(codes, weights=means) / np.bincount(codes)
    return pd.Series(level_means, [levels.iloc[place] for place in first], name="mean")


def interaction_residual(values: np.ndarray) -> float:
    """Return the sum of squares that neither rows nor columns of a table explain."""
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0)
    return float(((values - rows - columns + values.mean()) ** 2).sum())
