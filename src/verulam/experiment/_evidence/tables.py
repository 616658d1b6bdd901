"""Response and costs side by side: summary tables, and who is not beaten in both."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from verulam.statistics import average_ranks

if TYPE_CHECKING:
    from verulam.experiment._evidence.evidence import Evidence, RankEvidence
    from verulam.experiment._evidence.verdict import Verdict
    from verulam.experiment._store.responses import Responses
    from verulam.measures import Measure

#: Costs of a run, and what their mean over runs is called in a table.
COSTS = ["fit_seconds", "predict_seconds", "model_size", "peak_memory"]


def summarise_data(
    responses: "Responses",
    data: str,
    further_costs: Mapping[str, Mapping[str, float]] | None = None,
) -> pd.DataFrame:
    """Return one row per contestant on one data set: response, rank and costs.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    further_costs
        Further costs by name: a number for each contestant.
    """
    scores = responses.full[responses.full["data"] == data]
    groups = scores.groupby("contestant", observed=True)
    table = pd.DataFrame(
        {
            "mean": groups["score"].mean(),
            "standard_deviation": groups["score"].std(ddof=1),
        }
    ).reindex(responses.names)
    ascending = not responses.measure.greater_is_better
    # Rounded, or the last bit of a mean would rank equals.
    table["rank"] = table["mean"].round(12).rank(ascending=ascending)
    return _with_costs(table.join(_costs(responses, data)), further_costs)


def summarise_all(
    responses: "Responses", further_costs: Mapping[str, Mapping[str, float]] | None = None
) -> pd.DataFrame:
    """Return one row per contestant over several data sets: mean rank, wins and costs.

    Responses are not averaged over data sets, on which they mean different things.

    Parameters
    ----------
    responses
        The scores.
    further_costs
        Further costs by name: a number for each contestant.
    """
    means = responses.by_data()
    complete = means.dropna()
    table = pd.DataFrame(index=pd.Index(responses.names, name="contestant"))
    table["mean_rank"] = np.nan
    if len(complete) and complete.shape[1] > 1:
        greater = responses.measure.greater_is_better
        table["mean_rank"] = average_ranks(complete, greater_is_better=greater)
        # Ties in the last bit are ties.
        rounded = complete.round(12)
        top = rounded.max(axis=1) if greater else rounded.min(axis=1)
        table["wins"] = rounded.eq(top, axis=0).sum()
    table["data_sets"] = means.notna().sum().reindex(table.index, fill_value=0)
    return _with_costs(table.join(_costs(responses, None)), further_costs)


def pareto_front(
    table: pd.DataFrame, response: str, cost: str, *, greater_is_better: bool = False
) -> tuple[str, ...]:
    """Return the contestants to which no other is at least equal in both and better in one.

    Parameters
    ----------
    table
        One row per contestant.
    response, cost
        Columns; of the cost, less is better.
    greater_is_better
        Direction of the response.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"error": [0.3, 0.1, 0.2], "time": [1, 5, 9]}, list("abc"))
    >>> pareto_front(table, "error", "time")
    ('a', 'b')
    """
    known = table[[response, cost]].dropna()
    losses = known.to_numpy(dtype=np.float64) * [-1.0 if greater_is_better else 1.0, 1.0]
    front = []
    # All against all: contestants are few, and ties must stay on the front.
    for name, loss in zip(known.index, losses, strict=True):
        dominated = ((losses <= loss).all(axis=1) & (losses < loss).any(axis=1)).any()
        if not dominated:
            front.append(str(name))
    return tuple(front)


def leading_front(
    tables: Mapping[str, pd.DataFrame], overall: pd.DataFrame | None, measure: "Measure"
) -> tuple[str, ...]:
    """Return the contestants that none beats in both response and time to fit.

    Parameters
    ----------
    tables
        For each data set what `summarise_data` gave.
    overall
        What `summarise_all` gave, where there are several.
    measure
        What was measured.
    """
    if overall is not None:
        return pareto_front(overall, "mean_rank", "fit_seconds")
    table = next(iter(tables.values()))
    greater = measure.greater_is_better
    return pareto_front(table, "mean", "fit_seconds", greater_is_better=greater)


def with_evidence(
    table: pd.DataFrame, evidence: "Evidence | None", verdict: "Verdict | None"
) -> pd.DataFrame:
    """Return the table of one data set with what is known of each contestant beside the best.

    Parameters
    ----------
    table
        One row per contestant.
    evidence
        What is known; None where the runs tell nothing of how far a mean may be off.
    verdict
        Who has the best mean.
    """
    columns = ["estimate", "low", "high", "difference", "difference_low", "difference_high"]
    columns += ["probability_best", "probability_within", "regret", "complexity", "repeats"]
    if evidence is None:
        empty = table.assign(**dict.fromkeys(columns, np.nan), adjusted_p=np.nan)
        return _with_standing(empty, verdict.best if verdict else None)
    known = evidence.table
    table = table.join(known[columns])
    claims = evidence.claims
    # Adjusted for all pairs: the best was picked by its results, so that its pairs alone would
    # be too kind.
    against = claims[(claims["better"] == evidence.best) | (claims["worse"] == evidence.best)]
    p_values = {
        row["worse"] if row["better"] == evidence.best else row["better"]: row["adjusted_p"]
        for row in against.to_dict("records")
    }
    table["adjusted_p"] = [p_values.get(name, np.nan) for name in table.index]
    worse = [name for name in table.index if evidence.claimed(evidence.best, str(name))]
    return _with_standing(table, evidence.best, worse)


def with_only_evidence(
    tables: Mapping[str, pd.DataFrame],
    evidence: Mapping[str, "Evidence"],
    verdicts: Mapping[str, "Verdict"],
) -> pd.DataFrame:
    """Return the table of the only data set, with what is known of each contestant.

    Parameters
    ----------
    tables
        What `summarise_data` gave.
    evidence, verdicts
        For each data set what is known, and what the tests say.
    """
    ((data, table),) = tables.items()
    return with_evidence(table, evidence.get(data), verdicts.get(data))


def with_ranks(
    table: pd.DataFrame, ranks: "RankEvidence | None", verdict: "Verdict | None"
) -> pd.DataFrame:
    """Return the table over data sets with the tests of each contestant against the best.

    Parameters
    ----------
    table
        One row per contestant.
    ranks
        What the mean ranks tell; None for fewer than two contestants.
    verdict
        What the tests say over all data sets.
    """
    table = table.assign(adjusted_p=np.nan, better=np.nan, equal=np.nan, worse=np.nan)
    if ranks is not None:
        table.update(ranks.table[["better", "equal", "worse"]])
    if verdict is None:
        return table.assign(against_best="not tested")
    # One that alone was run on all data sets has none to be better than.
    best = verdict.best if len(table) == 1 or table["mean_rank"].notna().any() else None
    worse = []
    for row in verdict.pairs.to_dict("records"):
        if best in (row["first"], row["second"]):
            other = row["second"] if row["first"] == best else row["first"]
            table.loc[other, "adjusted_p"] = row["adjusted_p"]
            if verdict.beats(str(best), other):
                worse.append(other)
    return _with_standing(table, best, worse)


def _with_standing(
    table: pd.DataFrame, best: str | None, worse: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the table with how each contestant compares with the best, in words."""
    words = []
    for name, p_value in zip(table.index, table["adjusted_p"], strict=True):
        if name == best:
            words.append("best")
        elif name in worse:
            words.append("worse")
        else:
            words.append("not tested" if p_value != p_value else "not distinguishable")
    return table.assign(against_best=words)


def _with_costs(
    table: pd.DataFrame, further_costs: Mapping[str, Mapping[str, float]] | None
) -> pd.DataFrame:
    columns = {
        name: [float(values.get(str(contestant), np.nan)) for contestant in table.index]
        for name, values in (further_costs or {}).items()
    }
    return table.assign(**columns)


def _costs(responses: "Responses", data: str | None) -> pd.DataFrame:
    runs = responses.full_runs
    if data is not None:
        runs = runs[runs["data"] == data]
    runs = runs.assign(
        done=runs["status"] == "done",
        left=runs["status"] == "left",
        failed=~runs["status"].isin(["done", "left"]),
    )
    groups = runs.groupby("contestant", observed=True)
    means = groups[COSTS].mean()
    counts = groups[["done", "left", "failed"]].sum().astype(int)
    return means.join(counts)
