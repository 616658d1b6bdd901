"""Scores of one's own choice and stored studies, for the tests of the analysis."""

import shutil
import sqlite3

import numpy as np
import pandas as pd

from verulam.experiment import Results
from verulam.experiment._contestants import Responses, StoredContestant
from verulam.measures import as_measure


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
