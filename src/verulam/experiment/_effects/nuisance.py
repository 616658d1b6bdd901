"""Nuisance factors: columns that nobody controls, kept from learners and tested afterwards."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from verulam.experiment._effects.effects import COLUMNS, FactorEffects
from verulam.experiment._store.predictions import SplitPredictions, StoredPredictions

if TYPE_CHECKING:
    from verulam.experiment._plan.row_columns import NuisanceColumn
    from verulam.experiment._store.responses import Responses, StoredContestant
    from verulam.experiment._store.results import Results

CONTESTANT = "contestant"
LOSSES = {"classification": "shares of rows predicted wrongly", "regression": "squared errors"}


def nuisance_effects(
    results: "Results",
    responses: "Responses",
    data: str,
    contestants: Sequence["StoredContestant"],
) -> list[FactorEffects]:
    """Return for each nuisance factor whether it matters for errors, or for the comparison.

    Parameters
    ----------
    results
        The study.
    responses
        Its contestants and scores.
    data
        Label of the data set.
    contestants
        Whom to look at.
    """
    columns = results.nuisance_columns(data)
    predictions = StoredPredictions(results)
    task, targets = predictions.targets(data)
    full = set(responses.full.loc[responses.full["data"] == data, "run"])
    losses = {}
    for contestant in contestants:
        splits = predictions.by_split(data, contestant.learner, contestant.setting)
        largest = [split for split in splits if split.run in full]
        losses[contestant.name] = _row_losses(largest, targets, task)
    table = pd.DataFrame(losses).dropna()
    note = f"Means are {LOSSES[task]}, whatever the measure of the study."
    return list(_analysed(table, columns, data, note))


def row_effects(losses: pd.DataFrame, column: "NuisanceColumn", scope: str = "") -> FactorEffects:
    r"""Analyse the variance of the losses of rows by contestant and by a factor of the rows.

    Parameters
    ----------
    losses
        A row per row of the data set, by its position, and a column per contestant.
    column
        The factor, with at least two levels among these rows.
    scope
        Where this holds, in words.

    Notes
    -----
    Rows are blocks within the levels :math:`g` of the factor, as subjects are within groups: its
    main effect is tested against the variation of rows within levels, with :math:`N - G` degrees
    of freedom, and what it does together with the contestants :math:`c` against what rows and
    contestants do together, with :math:`(N - G)(C - 1)`. Each row counts once, however often it
    was validated (Alpaydin 19.2 on factors that are not controlled, 19.11 on blocks).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from verulam.experiment._plan.row_columns import NuisanceColumn
    >>> losses = pd.DataFrame({"a": [0, 0, 1, 1, 0, 1], "b": [0, 1, 1, 1, 0, 1]})
    >>> column = NuisanceColumn("site", ("x", "y"), np.array([0, 0, 1, 1, 0, 1]))
    >>> row_effects(losses, column).table[["sum_of_squares", "degrees_of_freedom"]].round(3)
                       sum_of_squares  degrees_of_freedom
    source
    site                        2.083                 1.0
    rows within site            0.333                 4.0
    contestant                  0.083                 1.0
    contestant x site           0.083                 1.0
    error                       0.333                 4.0
    """
    values = losses.to_numpy(dtype=np.float64)
    codes = column.codes[losses.index.to_numpy()]
    present, codes = np.unique(codes, return_inverse=True)
    counts = np.bincount(codes).astype(np.float64)
    cells = np.zeros((len(present), values.shape[1]))
    # Unlike cells[codes] += values, this adds up repeated indices.
    np.add.at(cells, codes, values)
    cells /= counts[:, np.newaxis]
    of_row, of_level = values.mean(axis=1), cells.mean(axis=1)
    of_contestant, overall = values.mean(axis=0), values.mean()
    rows, levels, number = len(values), len(present), values.shape[1]
    within = rows - levels
    joint = cells - of_level[:, np.newaxis] - of_contestant + overall
    rest = values - of_row[:, np.newaxis] - cells[codes] + of_level[codes][:, np.newaxis]
    name = column.name
    # Each with the place of the error that it is tested against: rows for what varies between rows,
    # the residual for what varies within them (a split-plot design).
    parts = [
        (name, number * (counts @ (of_level - overall) ** 2), levels - 1, 1),
        (f"rows within {name}", number * ((of_row - of_level[codes]) ** 2).sum(), within, None),
        (CONTESTANT, rows * ((of_contestant - overall) ** 2).sum(), number - 1, 4),
        (f"{CONTESTANT} x {name}", counts @ (joint**2).sum(1), (levels - 1) * (number - 1), 4),
        ("error", (rest**2).sum(), within * (number - 1), None),
    ]
    words = [column.levels[code] for code in present]
    settings = pd.DataFrame(
        [
            {CONTESTANT: contestant, name: level, "mean": cells[row, place]}
            for place, contestant in enumerate(losses.columns)
            for row, level in enumerate(words)
        ]
    )
    means = {
        CONTESTANT: pd.Series(of_contestant, losses.columns, name="mean"),
        name: pd.Series(of_level, words, name="mean"),
    }
    empty = pd.DataFrame(columns=["effect", "standard_error"], dtype=float)
    return FactorEffects(scope, (CONTESTANT, name), _variance(parts), means, empty, {}, settings)


def _analysed(
    losses: pd.DataFrame, columns: Sequence["NuisanceColumn"], data: str, note: str
) -> Iterator[FactorEffects]:
    for column in columns:
        present = np.unique(column.codes[losses.index.to_numpy()])
        if len(present) > 1 and losses.shape[1] > 1 and len(losses) > len(present):
            effects = row_effects(losses, column, f"{column.name} on {data}")
            yield FactorEffects(**{**vars(effects), "notes": (note,)})


def _row_losses(splits: Iterable[SplitPredictions], targets: np.ndarray, task: str) -> pd.Series:
    """Return the mean loss of each row over the runs that validated it; NaN for the others."""
    sums, counts = np.zeros(len(targets)), np.zeros(len(targets))
    for _, predicted, rows in splits:
        wrong = predicted != targets[rows]
        loss = wrong if task == "classification" else (predicted - targets[rows]) ** 2
        np.add.at(sums, rows, loss)
        np.add.at(counts, rows, 1)
    return pd.Series(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))


def _variance(parts: Sequence[tuple[str, float, int, int | None]]) -> pd.DataFrame:
    """Return the table of an analysis of variance with an error of its own for each effect."""
    squares = [0.0 if freedom == 0 else value / freedom for _, value, freedom, _ in parts]
    rows = []
    for (_, value, freedom, error), mean in zip(parts, squares, strict=True):
        ratio = p_value = np.nan
        if error is not None and squares[error] > 0:
            ratio = mean / squares[error]
            p_value = float(special.fdtrc(freedom, parts[error][2], ratio))
        # Rows are validated once each, so that there is nothing to be corrected for.
        rows.append([value, freedom, mean, ratio, p_value, p_value])
    names = pd.Index([name for name, *_ in parts], name="source")
    return pd.DataFrame(rows, names, COLUMNS).astype(float)
