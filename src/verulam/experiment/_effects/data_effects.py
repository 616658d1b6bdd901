"""Effects of a learner's factors over several data sets, each perhaps with settings of its own."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from verulam.experiment._effects.effects import (
    MOST_SETTINGS,
    Decomposition,
    FactorEffects,
    Source,
    Term,
    contrasts,
    distinct_levels,
    variance_table,
)
from verulam.experiment._store.responses import Responses, StoredContestant

DATA_SET = "data set"
#: Cells times the square of the levels of all factors: more would take longer than it is worth.
MOST_WORK = 1e9
ABOUT_MEANS = (
    "Means are differences from the mean of each data set: responses on different data sets cannot "
    "be compared, so that data sets have no row of their own."
)


def effects_over_data(responses: Responses, overlaps: Mapping[str, float]) -> list[FactorEffects]:
    """Return for each learner with factors their effects over all data sets.

    Parameters
    ----------
    responses
        The scores.
    overlaps
        For each data set rows tested over rows learnt from, where its splits share rows.
    """
    found = []
    learners = dict.fromkeys(each.learner for each in responses.contestants if each.levels)
    for learner in learners if len(responses.data) > 1 else ():
        settings = [each for each in responses.contestants if each.learner == learner]
        tables = {data: _complete(responses, data, settings) for data in responses.data}
        tables = {data: table for data, table in tables.items() if table.shape[1] > 1}
        if len(tables) > 1 and all(len(table) > 1 for table in tables.values()):
            scope = f"{learner} over {len(tables)} data sets"
            effects = _effects(scope, settings, tables, overlaps)
            if effects is not None:
                found.append(effects)
    return found


def _complete(
    responses: Responses, data: str, settings: Sequence[StoredContestant]
) -> pd.DataFrame:
    table = responses.by_split(data)
    return table[[each.name for each in settings if each.name in table.columns]].dropna()


def _effects(
    scope: str,
    settings: Sequence[StoredContestant],
    tables: Mapping[str, pd.DataFrame],
    overlaps: Mapping[str, float],
) -> FactorEffects | None:
    r"""Analyse the variance of mean responses with data sets as blocks.

    A cell is a setting on a data set. Cells are weighted by the number of splits, and everything
    is centred within its data set; what settings and splits do together, data set by data set, is
    the error.
    """
    levels = {each.name: each.levels for each in settings}
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
        for name in dict.fromkeys(name for each in settings for name in each.levels)
        if len(distinct_levels(cells[name])) > 1
    ]
    columns = sum(len(distinct_levels(cells[name])) for name in names)
    if not names or len(cells) * columns**2 > MOST_WORK:
        return None
    blocks = pd.factorize(cells[DATA_SET])[0]
    means = _centred(cells["mean"].to_numpy(dtype=np.float64)[:, np.newaxis], blocks)[:, 0]
    weights = np.sqrt(cells["splits"].to_numpy(dtype=np.float64))
    terms = [
        Term(term.name, term.order, _centred(term.columns, blocks) * weights[:, np.newaxis])
        for term in _terms(cells, names)
    ]
    terms = [term for term in terms if np.abs(term.columns).max() > 0]
    found = Decomposition(means * weights, 1).explained(terms)
    between = float(((means * weights) ** 2).sum())
    freedom = len(cells) - len(tables) - found.together.degrees_of_freedom
    sources = list(found.sources)
    if freedom > 0:
        rest = max(between - found.together.sum_of_squares, 0.0)
        sources.append(Source("other", rest, freedom))
    error = sum(interaction_residual(table.to_numpy()) for table in tables.values())
    error_freedom = sum((len(table) - 1) * (table.shape[1] - 1) for table in tables.values())
    sources.append(Source("error", error, error_freedom, tested=False))
    splits = len(tables) / sum(1.0 / len(table) for table in tables.values())
    scale = 1.0 + splits * float(np.mean([overlaps[data] for data in tables]))
    return FactorEffects(
        scope,
        tuple(names),
        variance_table(sources, scale),
        {name: _level_means(cells[name], means) for name in names},
        pd.DataFrame(columns=["effect", "standard_error"], dtype=float),
        found.aliases,
        cells[[*names, DATA_SET]].assign(mean=means),
        (*found.notes, ABOUT_MEANS),
    )


def _terms(cells: pd.DataFrame, names: Sequence[str]) -> Iterator[Term]:
    """Yield main effects, then interactions of two factors and those with the data set."""
    coded = {name: contrasts(cells[name]) for name in [*names, DATA_SET]}
    for name in names:
        yield Term(name, 1, coded[name])
    pairs = combinations([*names, DATA_SET], 2)
    for first, second in pairs if len(cells) <= MOST_SETTINGS else ():
        products = np.einsum("ij,ik->ijk", coded[first], coded[second])
        yield Term(f"{first} x {second}", 2, products.reshape(len(cells), -1))


def _centred(columns: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    sums = np.zeros((blocks.max() + 1, columns.shape[1]))
    np.add.at(sums, blocks, columns)
    return columns - (sums / np.bincount(blocks)[:, np.newaxis])[blocks]


def _level_means(levels: pd.Series, means: np.ndarray) -> pd.Series:
    """Return the mean at each level, in the order in which levels come first."""
    codes, _ = pd.factorize(levels.map(repr))
    first = np.unique(codes, return_index=True)[1]
    found = np.bincount(codes, weights=means) / np.bincount(codes)
    return pd.Series(found, [levels.iloc[place] for place in first], name="mean")


def interaction_residual(values: np.ndarray) -> float:
    """Return the sum of squares that neither rows nor columns of a table explain."""
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0)
    return float(((values - rows - columns + values.mean()) ** 2).sum())
