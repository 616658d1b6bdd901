"""Scores of one's own choice and stored studies, for the tests of the analysis."""

import shutil
import sqlite3

import numpy as np
import pandas as pd

from verulam.experiment import Results
from verulam.experiment._evidence.evidence import Evidence
from verulam.experiment._store.responses import Responses, StoredContestant
from verulam.measures import as_measure
from verulam.statistics import joint_posterior, select, split_posterior


def responses_of(tables, *, measure="error", baselines=(), folds=10, test_share=0.1, status="left"):
    """Return responses with these scores: for each data set a list of scores by contestant.

    What is not a number is a run with the status.
    """
    names = dict.fromkeys(name for table in tables.values() for name in table)
    ordered = [*baselines, *(name for name in names if name not in baselines)]
    rows = [
        {
            "data": data,
            "contestant": name,
            "learner": name,
            "setting": "",
            "repeat": place // folds,
            "fold": place % folds,
            "share": 1.0,
            "status": status if np.isnan(score) else "done",
            "score": score,
            "fit_seconds": 0.1 * (1 + ordered.index(name)),
            "predict_seconds": 0.01,
            "model_size": 100.0,
            "peak_memory": 1.0,
        }
        for data, table in tables.items()
        for name, scores in table.items()
        for place, score in enumerate(scores)
    ]
    runs = pd.DataFrame(rows)
    contestants = [StoredContestant(name, name, "", {}, name in baselines) for name in ordered]
    return Responses(
        tuple(contestants),
        tuple(tables),
        as_measure(measure),
        runs[runs["score"].notna()],
        runs.drop(columns="score"),
        dict.fromkeys(tables, test_share),
    )


def evidence_on(
    responses, data, complexity=None, *, losses=None, margin=0.01, rule="half standard error"
):
    """Return what responses of one's own tell; None for fewer than two splits.

    Losses, if any, are rows of repeats of each contestant; without them scores are all that counts.
    """
    table = responses.by_split(data).dropna(axis=1)
    if len(table) < 2 or table.empty:
        return None
    names = [str(name) for name in table.columns]
    values = None if losses is None else np.stack([losses[name] for name in names], axis=-1)
    greater = responses.measure.greater_is_better
    posterior = (
        split_posterior(
            table.to_numpy(), names, test_share=responses.test_shares[data],
            greater_is_better=greater,
        )
        if values is None
        else joint_posterior(values, names, greater_is_better=greater)
    )  # fmt: skip
    runs = responses.runs[responses.runs["data"] == data]
    failed = set(runs.loc[~runs["status"].isin(["done", "left"]), "contestant"])
    baselines = [each.name for each in responses.contestants if each.baseline]
    grades = {name: (complexity or {}).get(name, 1.0) for name in names}
    return Evidence(
        data,
        responses.measure,
        posterior,
        margin,
        grades,
        tuple(name for name in names if name not in failed),
        next(iter(baselines), None),
        0.05,
        rule,
        select(
            posterior,
            list(grades.values()),
            margin=margin,
            rule="half standard error" if rule == "not rejected" else rule,
            eligible=[name not in failed for name in names],
        ),
        values,
    )


def noisy(mean, size=10, seed=0, spread=0.01):
    """Return scores that vary around their mean."""
    noise = np.random.default_rng(seed).normal(size=size)
    return (mean + spread * (noise - noise.mean())).tolist()


def changed_copy(results, path, *commands):
    """Return the results of a copy of a store in which some SQL commands were carried out."""
    with sqlite3.connect(results.path) as source:
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    source.close()
    shutil.copy(results.path, path)
    with sqlite3.connect(path) as connection:
        for command in commands:
            connection.execute(command)
    connection.close()
    return Results(path)


#: Runs of the contestants on the splits that a condition picks, for use in SQL.
RUNS_OF = (
    "run IN (SELECT p.run FROM planned p JOIN splits s ON s.split = p.split WHERE p.learner = '{}' "
    "AND s.fold {})"
)
