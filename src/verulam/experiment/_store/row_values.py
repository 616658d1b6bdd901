"""What each validated row contributes to the measure, side by side for all contestants."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from verulam.experiment._store.damage import stored_array
from verulam.experiment._store.responses import Responses
from verulam.experiment._store.scoring import RowValue, Scorer
from verulam.experiment._store.store import Store

if TYPE_CHECKING:
    from verulam.experiment._store.results import Results
    from verulam.measures import Measure

_SPLITS = """
SELECT p.label, s.repeat, s.fold, p.split, p.data
FROM (SELECT DISTINCT label, split, data FROM planned WHERE study = ?) p
JOIN splits s ON s.split = p.split
"""
_TESTS = """
SELECT s.split, s.test FROM splits s
WHERE s.split IN (SELECT DISTINCT split FROM planned WHERE study = ?)
"""
#: Kinds of resampling in which a repeat tests every row once, after learning from others.
EVERY_ROW_ONCE = ("k-fold", "5x2", "leave-one-out", "holdout")
#: The splits of each contestant and repeat, which is a replication and a repeat, with numbers.
Cells = dict[tuple[str, tuple[int, int]], list[tuple[str, NDArray[np.float64]]]]
#: Values between these have squares, and sums of squares, that a double holds.
LARGEST, SMALLEST = 1e150, 1e-150


@dataclass(frozen=True, eq=False)
class RowValues:
    """The validated rows of a data set, and what they contribute to the measure.

    Attributes
    ----------
    names
        Contestants with at least one repeat on all rows.
    values
        Repeats x rows x contestants: contributions to the measure, or for a measure that is no
        mean over rows their influence on it. NaN in repeats that a contestant does not have;
        replications with other seeds count as repeats.
    repeats
        How often the rows of each contestant were split anew, which replications do not count for.
    means
        The measure of each contestant over all of its rows and repeats; None where that is the
        mean of the values.
    worth
        So many rows of one class would tell as much; None for as many as there are.
    counting
        Contestants for which each row counts as a whole, or not at all.
    in_groups
        Whether the rows are groups of rows that were kept together, which vary as one.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    repeats: NDArray[np.int64]
    means: NDArray[np.float64] | None
    worth: float | None = None
    counting: frozenset[str] = frozenset()
    in_groups: bool = False


@dataclass(frozen=True)
class ValidatedTargets:
    """The targets of the rows that a study validates on.

    Attributes
    ----------
    targets
        Numbers, or positions among the classes.
    classes
        The labels; none where the target is a number.
    rows
        Row numbers, in order; None where nobody asks for some of them.
    weights
        What each row counts in the measure; None where all count the same.
    """

    targets: NDArray[np.float64]
    classes: NDArray[np.object_]
    rows: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the targets of some rows, which a study that is not finished may have."""
        return self.targets if self.rows is None else self.targets[np.isin(self.rows, rows)]


class _RunPlace(NamedTuple):
    """Where a run stands: its data set, contestant, repeat and split."""

    label: str
    contestant: str
    repeat: int
    split: str


def row_values(
    results: "Results", responses: Responses
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
        places, keys = _places(store, results.study, responses)
        tests = {
            split: stored_array(store, test, f"rows of split {split}")
            for split, test in store.rows(_TESTS, (results.study,))
        }
        targets = _targets(scorer, places, keys, tests)
        groups = _row_groups(store, results.study, keys)
        what = _row_value(measure, targets)
        grouped = {}
        if what is not None:
            grouped = _grouped(scorer.row_values(results.study, measure, what), places)
    del places
    tables: dict[str, RowValues] = {}
    if what is not None:
        # One after the other, each giving back what it was made of.
        for label in list(grouped):
            cells = grouped.pop(label)
            if what == "scores":
                cells = _ranked(cells)
            cells = _shared(cells, tests, responses.with_failures(label))
            assembled = _assembled(cells, tests, responses)
            if assembled is None:
                continue
            names, rows, values, repeats = assembled
            split_means = responses.by_split(label).mean()
            codes = targets[label].at(rows)
            weights = targets[label].weights if measure.takes_weights else None
            if weights is not None:
                values = _weighted(values, rows, targets[label])
            if what == "scores" and len(np.unique(codes)) < 2:
                continue  # of a study that is not finished, and has seen one class only
            influences = _influences(names, values, measure, what, codes, split_means)
            table = RowValues(names, influences[0], repeats, *influences[1:])
            if weights is not None and table.worth is None:
                # So many rows of equal weight would give a mean of the same variance (Kish).
                table = replace(table, worth=float(weights.sum() ** 2 / (weights**2).sum()))
            usable = _of_usable_size(table)
            if usable is not None:
                usable = replace(usable, counting=counting_contestants(usable.names, usable.values))
                if label in groups:
                    if len(np.unique(groups[label][rows])) < 2:
                        continue  # one group says nothing of how groups vary
                    usable = by_groups(usable, groups[label][rows])
                tables[label] = usable
    return tables, targets


def _places(
    store: Store, study: str, responses: Responses
) -> tuple[dict[str, list[_RunPlace]], dict[str, str]]:
    """Return where each run stands, at the largest share of training rows, and keys of the data."""
    splits, keys = {}, {}
    for label, repeat, fold, split, data in store.rows(_SPLITS, (study,)):
        splits[label, repeat, fold] = split
        keys[label] = data
    runs = responses.full_runs
    columns = [runs[name].tolist() for name in ("run", "data", "contestant", "repeat", "fold")]
    places: dict[str, list[_RunPlace]] = defaultdict(list)
    for run, label, contestant, repeat, fold in zip(*columns, strict=True):
        place = _RunPlace(label, contestant, repeat, splits[label, repeat, fold])
        # Where chance has no part in a learner, its replications are one run.
        if place not in places[run]:
            places[run].append(place)
    return places, keys


def _row_groups(store: Store, study: str, keys: Mapping[str, str]) -> dict[str, NDArray[np.int64]]:
    """Return the group of each row of those data sets whose rows are kept together."""
    if not store.has_table("row_groups"):
        return {}
    codes = {
        data: stored_array(store, content, f"groups of data set {data}")
        for data, content in store.rows(
            "SELECT data, codes FROM row_groups WHERE study = ?", (study,)
        )
    }
    return {label: codes[key] for label, key in keys.items() if key in codes}


def by_groups(table: RowValues, groups: NDArray[np.int64]) -> RowValues:
    r"""Return what groups of rows contribute to a measure, in place of the rows.

    Parameters
    ----------
    table
        What rows contribute.
    groups
        The group of each row.

    Notes
    -----
    A mean over rows is a ratio of two sums over G groups, of values and of rows, and to the first
    order it varies as the sums of what the rows are away from it:

    .. math:: u_g = \bar v + \frac{G}{n} \sum_{i \in g} (v_i - \bar v)
    """
    codes = np.unique(groups, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    means = table.values.mean(axis=1, keepdims=True)
    sums = np.add.reduceat((table.values - means)[:, order], starts, axis=1)
    return replace(
        table,
        values=means + len(starts) / len(codes) * sums,
        # The variance says what groups take from it: rows that differ are worth what they are.
        worth=float(len(codes)) if table.worth is None else table.worth,
        in_groups=True,
    )


def counting_contestants(names: tuple[str, ...], values: NDArray[np.float64]) -> frozenset[str]:
    """Return the contestants for which each row counts as a whole, or not at all.

    Parameters
    ----------
    names
        All of them.
    values
        Repeats x rows x contestants.
    """
    whole = ((values == 0.0) | (values == 1.0) | np.isnan(values)).all(axis=(0, 1))
    return frozenset(name for name, counts in zip(names, whole, strict=True) if counts)


def _targets(
    scorer: Scorer,
    places: Mapping[str, list[_RunPlace]],
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
        values = np.concatenate([np.atleast_1d(scorer.targets[split]) for split in splits])
        # A row is tested in several splits; its target is the same in all of them.
        rows, first = np.unique(rows, return_index=True)
        parts = [scorer.weights[split] for split in splits if split in scorer.weights]
        weights = np.concatenate([np.atleast_1d(part) for part in parts]) if parts else None
        targets[label] = ValidatedTargets(
            values[first],
            scorer.classes[keys[label]],
            rows,
            None if weights is None else weights[first],
        )
    return targets


def _weighted(
    values: NDArray[np.float64], rows: NDArray[np.int64], known: ValidatedTargets
) -> NDArray[np.float64]:
    """Return what rows contribute to a mean in which they weigh more or less.

    The mean of the result is the weighted mean, and its variance that of a ratio of two sums, to
    the first order: a row counts by how far it is from the mean.
    """
    assert known.weights is not None
    weights = known.weights if known.rows is None else known.weights[np.isin(known.rows, rows)]
    if np.ptp(weights) == 0.0:
        return values
    shares = (weights / weights.mean())[:, None]
    means = (shares * values).mean(axis=1, keepdims=True)
    return means + shares * (values - means)


def _row_value(measure: "Measure", targets: Mapping[str, ValidatedTargets]) -> RowValue | None:
    """Return which number of a row the measure is made of; None where there is none."""
    if measure.rows is not None:
        return "losses"
    if measure.options:
        return None
    if any(known.weights is not None for known in targets.values()):
        return None  # the influences below are those of rows that count the same
    if measure.name == "balanced_accuracy":
        return "hits"
    two = all(len(known.classes) == 2 for known in targets.values())
    return "scores" if measure.name == "auc" and two else None


def _ranked(cells: Cells) -> Cells:
    """Return ranks within each fold instead of scores, which of different fits need not compare."""
    return {
        key: [(split, (rankdata(scores) - 0.5) / len(scores)) for split, scores in part]
        for key, part in cells.items()
    }


def _grouped(
    numbers: Iterable[tuple[str, NDArray[np.float64]]], places: Mapping[str, list[_RunPlace]]
) -> dict[str, Cells]:
    """Return for each data set the splits of each contestant and repeat, with their numbers.

    Replications of a split, with other seeds, count as further repeats.
    """
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    grouped: dict[str, Cells] = {}
    for run, values in numbers:
        for place in places.get(run, ()):
            key = (place.label, place.contestant, place.split)
            repeat = (seen[key], place.repeat)
            seen[key] += 1
            cells = grouped.setdefault(place.label, {})
            cells.setdefault((place.contestant, repeat), []).append((place.split, values))
    return grouped


def _shared(cells: Cells, tests: Mapping[str, NDArray[np.int64]], failed: set[str]) -> Cells:
    """Return the splits by which contestants are judged: of an unfinished study, what all have.

    Who has a whole repeat, or has failed, waits for nobody.
    """
    n_rows = len(_tested_rows(cells, tests))
    seen: dict[str, set[tuple[tuple[int, int], str]]] = defaultdict(set)
    whole = set()
    for (name, repeat), part in cells.items():
        if name not in failed:
            seen[name] |= {(repeat, split) for split, _ in part}
            if sum(len(values) for _, values in part) == n_rows:
                whole.add(name)
    if whole == seen.keys():
        return cells
    # Means over different splits cannot be compared: some are easier than others.
    common = set.intersection(*seen.values())
    shared = {
        (name, repeat): [pair for pair in part if (repeat, pair[0]) in common]
        for (name, repeat), part in cells.items()
    }
    return {key: part for key, part in shared.items() if part} or cells


def _tested_rows(cells: Cells, tests: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    splits = {split for part in cells.values() for split, _ in part}
    return np.unique(np.concatenate([np.atleast_1d(tests[split]) for split in splits]))


def _assembled(
    cells: Cells,
    tests: Mapping[str, NDArray[np.int64]],
    responses: Responses,
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]] | None:
    """Return contestants, rows, numbers and repeats; None where no repeat has tested all rows."""
    rows = _tested_rows(cells, tests)
    splits = {split for part in cells.values() for split, _ in part}
    # Positions among the tested rows: locked rows, or those of no split, have none.
    at = {split: np.searchsorted(rows, tests[split]) for split in splits}
    complete = {
        key: part
        for key, part in cells.items()
        if sum(len(values) for _, values in part) == len(rows)
    }
    repeats = sorted({repeat for _, repeat in complete})
    known = [name for name in responses.names if any(name == owner for owner, _ in complete)]
    values = np.full((len(repeats), len(rows), len(known)), np.nan)
    for (name, repeat), part in complete.items():
        block = values[repeats.index(repeat), :, known.index(name)]
        for split, numbers in part:
            block[at[split]] = numbers
    # A repeat counts where every row has a number.
    counts = np.isfinite(values).all(axis=1)
    # Where all is there, which is most of the time, nothing is copied.
    if not counts.all():
        values = np.where(counts[:, None, :], values, np.nan)
    present = counts.any(axis=0)
    if not present.any() or len(rows) < 2:
        return None
    apart = [
        len({repeat for (_, repeat), there in zip(repeats, column, strict=True) if there})
        for column in counts.T[present]
    ]
    names = tuple(name for name, there in zip(known, present, strict=True) if there)
    if not counts.all():
        values = values[counts.any(axis=1)][:, :, present]
    return names, rows, values, np.array(apart)


def _influences(
    names: tuple[str, ...],
    values: NDArray[np.float64],
    measure: "Measure",
    what: RowValue,
    targets: NDArray[np.float64],
    split_means: pd.Series,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, float | None]:
    """Return what rows contribute to a measure, its means, and how many rows it is worth."""
    if what == "losses" and not measure.root:
        return values, None, None
    if what == "losses":
        means = np.sqrt(np.nanmean(values, axis=(0, 1)))
        # Delta method: the root changes by 1/(2 root) for a change of the mean below it.
        slopes = np.divide(0.5, means, out=np.zeros_like(means), where=means > 0)
        return values * slopes, means, None
    codes = targets.astype(np.int64)
    counts = np.bincount(codes)
    present = counts[counts > 0]
    influence = np.full_like(values, np.nan)
    for repeat, place in zip(*np.nonzero(~np.isnan(values).any(axis=1)), strict=True):
        numbers = values[repeat, :, place]
        influence[repeat, :, place] = (
            _recall_influence(numbers, codes)
            if what == "hits"
            else _area_influence(numbers, codes == 1)
        )
    if what == "hits":
        return influence, None, len(present) ** 2 / float((1.0 / present).sum())
    # The area is that within each fold, since scores of different fits need not compare.
    means = split_means.reindex(names).to_numpy(np.float64)
    return influence, means, float(present.min())


def _of_usable_size(table: RowValues) -> RowValues | None:
    """Return the contestants whose values can be squared: a fit that diverges has no others."""
    with_signs = np.nanmax(table.values, axis=(0, 1)), np.nanmin(table.values, axis=(0, 1))
    largest = np.maximum(with_signs[0], -with_signs[1])
    usable = largest <= LARGEST
    if table.means is not None:
        usable &= np.isfinite(table.means)
    if not usable.any() or 0.0 < largest[usable].max() < SMALLEST:
        return None
    if usable.all():
        return table
    return RowValues(
        tuple(name for name, fits in zip(table.names, usable, strict=True) if fits),
        table.values[:, :, usable],
        table.repeats[usable],
        None if table.means is None else table.means[usable],
        table.worth,
    )


def _class_weights(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of each row with which the variance of a mean over classes comes out.

    Within a class of m among n rows it is n/m, but for what n - 1 and m - 1 make of variances.
    """
    counts = np.bincount(codes)[codes].astype(np.float64)
    n_rows = len(codes)
    fewer = np.maximum(counts - 1.0, 1.0)
    return n_rows / counts * np.sqrt(counts / fewer * (n_rows - 1) / n_rows)


def _recall_influence(hits: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the influence of each row on the mean recall of the classes, which is their mean."""
    counts = np.bincount(codes)
    recalls = np.bincount(codes, hits) / np.maximum(counts, 1)
    present = np.count_nonzero(counts)
    # Around the recall of its class: else classes of different size would pass for noise.
    return recalls.sum() / present + _class_weights(codes) / present * (hits - recalls[codes])


def _area_influence(
    scores: NDArray[np.float64], positive: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the influence of each row on the area under a curve, whose mean is the area.

    The placement of a positive is the share of negatives below it; DeLong's variance of the area
    is the variance of these influences over the number of rows.
    """
    # Mann-Whitney: ranks among all less ranks among the positives count the negatives below.
    ranks = rankdata(scores)
    positives, negatives = int(positive.sum()), int((~positive).sum())
    placements = np.empty(len(scores))
    placements[positive] = (ranks[positive] - rankdata(scores[positive])) / negatives
    placements[~positive] = 1.0 - (ranks[~positive] - rankdata(scores[~positive])) / positives
    area = float(placements[positive].mean())
    return area + _class_weights(positive.astype(np.int64)) * (placements - area)
