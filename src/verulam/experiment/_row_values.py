"""What each validated row contributes to the measure, side by side for all contestants."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from verulam.experiment._contestants import Responses, contestant_name
from verulam.experiment._results import Results
from verulam.experiment._scoring import RowValue, Scorer
from verulam.experiment._store import Store
from verulam.experiment._store_rows import unpack
from verulam.measures import Measure

_PLACES = """
SELECT p.run, p.label, p.data, p.learner, p.setting, p.share, p.split, s.repeat
FROM planned p JOIN splits s ON s.split = p.split WHERE p.study = ? ORDER BY p.position
"""
_TESTS = """
SELECT s.split, s.test FROM splits s
WHERE s.split IN (SELECT DISTINCT split FROM planned WHERE study = ?)
"""
#: Kinds of resampling in which a repeat tests every row once, after learning from others.
EVERY_ROW_ONCE = ("k-fold", "5x2", "leave-one-out", "holdout")


@dataclass(frozen=True, eq=False)
class RowValues:
    """The validated rows of a data set, and what they contribute to the measure.

    Attributes
    ----------
    names
        Contestants with at least one repeat on all rows.
    values
        Repeats x rows x contestants: contributions to the measure, or for a measure that is no
        mean over rows their influence on it. NaN in repeats that a contestant does not have.
    means
        The measure of each contestant over all of its rows and repeats; None where that is the
        mean of the values.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    means: NDArray[np.float64] | None


@dataclass(frozen=True)
class ValidatedTargets:
    """The targets of the rows that a study validates on.

    Attributes
    ----------
    targets
        Numbers, or positions among the classes.
    classes
        The labels; none where the target is a number.
    """

    targets: NDArray[np.float64]
    classes: NDArray[np.object_]


@dataclass(frozen=True)
class _Place:
    """Where a run stands: its data set, contestant, repeat and split."""

    label: str
    contestant: str
    repeat: int
    split: str


def row_values(
    results: Results, responses: Responses
) -> tuple[dict[str, RowValues], dict[str, ValidatedTargets]]:
    """Return for each data set the contributions of its rows, and their targets.

    Data sets whose design or measure gives rows no value of their own have no contributions.

    Parameters
    ----------
    results
        The study.
    responses
        Its contestants, and the measure.
    """
    measure = responses.measure
    with Store(results.path, read_only=True) as store:
        scorer = Scorer(store)
        places, keys = _places(store, results.study)
        tests = {split: unpack(test) for split, test in store.rows(_TESTS, (results.study,))}
        targets = _targets(scorer, places, keys, tests)
        what = _row_value(measure, targets)
        numbers = [] if what is None else list(scorer.row_values(results.study, measure, what))
    tables: dict[str, RowValues] = {}
    if what is not None:
        grouped = _grouped(numbers, places)
        for label, cells in grouped.items():
            assembled = _assembled(cells, tests, responses)
            if assembled is not None:
                split_means = responses.by_split(label).mean()
                tables[label] = _influences(*assembled, measure, what, targets[label], split_means)
    return tables, targets


def _places(store: Store, study: str) -> tuple[dict[str, list[_Place]], dict[str, str]]:
    """Return where each run stands, at the largest share of training rows, and keys of the data."""
    rows = list(store.rows(_PLACES, (study,)))
    largest: dict[str, float] = {}
    for _, _, _, learner, setting, share, _, _ in rows:
        name = contestant_name(learner, setting)
        largest[name] = max(share, largest.get(name, 0.0))
    places: dict[str, list[_Place]] = defaultdict(list)
    keys = {}
    for run, label, data, learner, setting, share, split, repeat in rows:
        keys[label] = data
        name = contestant_name(learner, setting)
        if share == largest[name]:
            places[run].append(_Place(label, name, repeat, split))
    return places, keys


def _targets(
    scorer: Scorer,
    places: Mapping[str, list[_Place]],
    keys: Mapping[str, str],
    tests: Mapping[str, NDArray[np.int64]],
) -> dict[str, ValidatedTargets]:
    known: dict[str, dict[str, None]] = defaultdict(dict)
    for stood in places.values():
        for place in stood:
            known[place.label][place.split] = None
    targets = {}
    for label, splits in known.items():
        rows = np.concatenate([np.atleast_1d(tests[split]) for split in splits])
        values = np.concatenate([np.atleast_1d(scorer.targets_of(split)) for split in splits])
        _, first = np.unique(rows, return_index=True)
        targets[label] = ValidatedTargets(values[first], scorer.classes_of(keys[label]))
    return targets


def _row_value(measure: Measure, targets: Mapping[str, ValidatedTargets]) -> RowValue | None:
    """Return which number of a row the measure is made of; None where there is none."""
    if measure.rows is not None:
        return "losses"
    if measure.options:
        return None
    if measure.name == "balanced_accuracy":
        return "hits"
    two = all(len(known.classes) == 2 for known in targets.values())
    return "scores" if measure.name == "auc" and two else None


def _grouped(
    numbers: list[tuple[str, NDArray[np.float64]]], places: Mapping[str, list[_Place]]
) -> dict[str, dict[tuple[str, int], list[tuple[str, NDArray[np.float64]]]]]:
    """Return for each data set the splits of each contestant and repeat, with their numbers.

    Replications of a split, with other seeds, count as further repeats.
    """
    repeats: dict[str, int] = defaultdict(int)
    for stood in places.values():
        for place in stood:
            repeats[place.label] = max(repeats[place.label], place.repeat + 1)
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    grouped: dict[str, dict[tuple[str, int], list[tuple[str, NDArray[np.float64]]]]] = {}
    for run, values in numbers:
        for place in places.get(run, ()):
            key = (place.label, place.contestant, place.split)
            repeat = place.repeat + seen[key] * repeats[place.label]
            seen[key] += 1
            cells = grouped.setdefault(place.label, {})
            cells.setdefault((place.contestant, repeat), []).append((place.split, values))
    return grouped


def _assembled(
    cells: Mapping[tuple[str, int], list[tuple[str, NDArray[np.float64]]]],
    tests: Mapping[str, NDArray[np.int64]],
    responses: Responses,
) -> tuple[tuple[str, ...], NDArray[np.float64]] | None:
    """Return the contestants and their numbers; None where no repeat has tested all rows."""
    rows = np.unique(
        np.concatenate(
            [np.atleast_1d(tests[split]) for part in cells.values() for split, _ in part]
        )
    )
    complete = {
        key: part
        for key, part in cells.items()
        if sum(len(values) for _, values in part) == len(rows)
    }
    present = {name for name, _ in complete}
    names = tuple(name for name in responses.names if name in present)
    if not names or len(rows) < 2:
        return None
    repeats = sorted({repeat for _, repeat in complete})
    values = np.full((len(repeats), len(rows), len(names)), np.nan)
    for (name, repeat), part in complete.items():
        block = values[repeats.index(repeat), :, names.index(name)]
        for split, numbers in part:
            block[np.searchsorted(rows, tests[split])] = numbers
    return names, values


def _influences(
    names: tuple[str, ...],
    values: NDArray[np.float64],
    measure: Measure,
    what: RowValue,
    targets: ValidatedTargets,
    split_means: pd.Series,
) -> RowValues:
    """Return the contributions of rows to a measure, from the numbers that it is made of."""
    if what == "losses" and not measure.root:
        return RowValues(names, values, None)
    if what == "losses":
        means = np.sqrt(np.nanmean(values, axis=(0, 1)))
        slopes = np.divide(0.5, means, out=np.zeros_like(means), where=means > 0)
        return RowValues(names, values * slopes, means)
    codes = targets.targets.astype(np.int64)
    counts = np.bincount(codes, minlength=len(targets.classes))
    if what == "hits":
        weights = len(codes) / (np.count_nonzero(counts) * counts[codes])
        return RowValues(names, values * weights[None, :, None], None)
    influence = np.full_like(values, np.nan)
    for repeat, place in zip(*np.nonzero(~np.isnan(values).any(axis=1)), strict=True):
        influence[repeat, :, place] = _area_influence(values[repeat, :, place], codes == 1)
    # The area is that within each fold, since scores of different fits need not compare.
    return RowValues(names, influence, split_means.reindex(names).to_numpy(np.float64))


def _area_influence(
    scores: NDArray[np.float64], positive: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the influence of each row on the area under a curve, whose mean is the area.

    The placement of a positive is the share of negatives below it; DeLong's variance of the area
    is the variance of these influences over the number of rows.
    """
    ranks = rankdata(scores)
    positives, negatives = int(positive.sum()), int((~positive).sum())
    placements = np.empty(len(scores))
    placements[positive] = (ranks[positive] - rankdata(scores[positive])) / negatives
    placements[~positive] = 1.0 - (ranks[~positive] - rankdata(scores[~positive])) / positives
    area = float(placements[positive].mean())
    weights = np.where(positive, len(scores) / positives, len(scores) / negatives)
    return area + weights * (placements - area)
