"""The .632 and .632+ estimates of a study that was resampled by the bootstrap."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._store.rows import unpack
from verulam.experiment._store.scoring import RowLosses, Scorer
from verulam.experiment._store.store import Store
from verulam.measures import Measure
from verulam.statistics import bootstrap_error, resampled_losses

COLUMNS = [
    "data", "learner", "setting", "samples", "training", "out_of_bag", "no_information",
    "overfitting", "error_632", "error_632_plus",
]  # fmt: skip
_PLANNED = """
SELECT p.run, p.label, p.learner, p.setting FROM planned p JOIN splits s ON s.split = p.split
WHERE p.study = ? AND p.share = 1.0 ORDER BY p.place, p.learner, p.setting, s.repeat
"""
_DRAWS = """
SELECT s.split, s.test, d.train FROM splits s JOIN draws d ON d.split = s.split
WHERE s.split IN (SELECT split FROM planned WHERE study = ?)
"""
#: Pairs of targets and predictions are made by as many shifts of one against the other at most.
MOST_SHIFTS = 100


def bootstrap_errors(store: Store, study: str, kind: str, measure: Measure) -> pd.DataFrame:
    """Return the .632 and .632+ estimates of each contestant on each data set.

    Parameters
    ----------
    store
        Where the study is kept.
    study
        Its key.
    kind
        Its kind of resampling.
    measure
        A measure that is a mean over rows.
    """
    if kind != "bootstrap":
        raise DataError(
            f"The .632 estimates need rows that were learnt from beside rows that were not: "
            f'resample by "bootstrap 100" instead of {kind}.'
        )
    if measure.rows is None:
        raise DataError(
            f"{measure.name} is not a mean over rows, as the .632 estimates need it; take the "
            "error, risk, log_loss, brier, or an error of numbers."
        )
    if not store.has_table("draws"):
        raise DataError(
            f"The store {store.path} does not say which rows were drawn; run the study once more "
            "with it, which writes that down and repeats no run."
        )
    places = {
        split: np.searchsorted(unpack(test), unpack(train))
        for split, test, train in store.rows(_DRAWS, (study,))
    }
    found = {
        each.run: _sample(each, places[each.split])
        for each in Scorer(store).row_losses(study, measure)
        if each.split in places
    }
    contestants = defaultdict(list)
    for run, *contestant in store.rows(_PLANNED, (study,)):
        if run in found:
            contestants[tuple(contestant)].append(found[run])
    rows = [[*key, *_estimates(samples, measure)] for key, samples in contestants.items()]
    return pd.DataFrame(rows, columns=COLUMNS)


class _Sample(NamedTuple):
    """What the learner of one bootstrap sample does: losses, draws of the rows, and chance."""

    losses: np.ndarray
    draws: np.ndarray
    no_information: float


def _sample(run: RowLosses, drawn: np.ndarray) -> _Sample:
    """Return what a run says, given the places of the rows that it learnt from."""
    draws = np.bincount(drawn, minlength=len(run.targets))
    return _Sample(run.losses, draws, _no_information(run, drawn))


def _no_information(run: RowLosses, drawn: np.ndarray) -> float:
    """Return the mean loss of all pairs of a target and a prediction of the learnt rows."""
    targets = run.targets[drawn]
    if run.classes:
        labels, counts = np.unique(targets, return_counts=True)
        means = [run.of(np.repeat(label, len(drawn)), drawn).mean() for label in labels]
        return float(np.average(means, weights=counts))
    count = min(len(drawn), MOST_SHIFTS)
    # The middles of equal parts: of few rows all shifts, of many not the one that pairs rows with
    # themselves, which would count too much.
    shifts = ((np.arange(count) + 0.5) * len(drawn) / count).astype(int)
    return float(np.mean([run.of(targets, np.roll(drawn, shift)).mean() for shift in shifts]))


def _estimates(samples: list[_Sample], measure: Measure) -> list[float]:
    sign = -1.0 if measure.greater_is_better else 1.0
    found = resampled_losses(
        sign * np.stack([each.losses for each in samples]),
        np.stack([each.draws for each in samples]),
    )
    chance = sign * float(np.mean([each.no_information for each in samples]))
    plain = bootstrap_error(found.training, found.out_of_bag)
    plus = bootstrap_error(found.training, found.out_of_bag, chance)
    values = [measure.from_mean(sign * each) for each in (found.training, found.out_of_bag, chance)]
    ends = [measure.from_mean(sign * each.value) for each in (plain, plus)]
    return [len(samples), *values, plus.overfitting, *ends]
