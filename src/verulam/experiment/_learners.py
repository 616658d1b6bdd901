"""Learners of a comparison: named, checked against the task, ready for the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verulam.base import abilities, clone
from verulam.catalogue import entry
from verulam.data import Dataset
from verulam.experiment._preparation import prepared

#: What is compared when nothing is named, simplest first.
DEFAULT_LEARNERS = {
    "classification": (
        "majority class",
        "parametric.NaiveBayes",
        "logistic regression",
        "k-nearest neighbours",
        "random forest",
    ),
    "regression": (
        "mean predictor",
        "ridge regression",
        "k-nearest neighbours smoother",
        "random forest regression",
    ),
}


@dataclass(frozen=True)
class NamedLearner:
    """A learner and what it is called in the results.

    Attributes
    ----------
    name
        Unique within the comparison.
    estimator
        Unfitted; a pipeline where the table has to be prepared.
    preparation
        What is done to the columns first.
    """

    name: str
    estimator: Any
    preparation: str


def named_learners(
    learners: Sequence[Any] | Mapping[str, Any] | str | None, data: Dataset, inputs: pd.DataFrame
) -> tuple[NamedLearner, ...]:
    """Return the learners to compare.

    Parameters
    ----------
    learners
        Names in the catalogue, estimators, a mapping of your own names to either, or None for
        the default ones of the task.
    data
        Tells the task.
    inputs
        The table the learners will be given.
    """
    if learners is None:
        learners = DEFAULT_LEARNERS[str(data.task)]
    pairs = _pairs(learners)
    if not pairs:
        raise ValueError("learners: at least one learner is needed.")
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"learners: {repeated[0]!r} is there twice; pass a dict with your own name for each."
        )
    return tuple(_named(name, given, data, inputs) for name, given in pairs)


def _pairs(learners: Sequence[Any] | Mapping[str, Any] | str) -> list[tuple[str, Any]]:
    if isinstance(learners, Mapping):
        return [(str(name), given) for name, given in learners.items()]
    if isinstance(learners, str) or hasattr(learners, "fit"):
        learners = [learners]
    return [
        (entry(given).name if isinstance(given, str) else type(given).__name__, given)
        for given in learners
    ]


def _named(name: str, given: Any, data: Dataset, inputs: pd.DataFrame) -> NamedLearner:
    borrowed = False
    if isinstance(given, str):
        found = entry(given)
        estimator, borrowed = found.make(), found.source == "borrowed"
    elif hasattr(given, "fit") and hasattr(given, "get_params"):
        estimator = clone(given)
    else:
        raise TypeError(
            f"learners: expected names or estimators, got {type(given).__name__} for {name!r}."
        )
    task = abilities(estimator).task
    if task != data.task:
        raise ValueError(
            f"Learner {name!r} is for {task}, but {data.target!r} of data set {data.name!r} "
            f"is a {data.task} target. `verulam learners --task {data.task}` lists those that fit."
        )
    ready = prepared(estimator, inputs, scale=borrowed)
    return NamedLearner(name, ready.estimator, ready.words)
