"""Learners of a comparison, by whatever they are given."""

from collections.abc import Mapping, Sequence
from typing import Any

from verulam.catalogue import entry
from verulam.experiment._study import LearnerChoice

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


def learner_choices(
    learners: Sequence[Any] | Mapping[str, Any] | str | None, task: str
) -> list[LearnerChoice]:
    """Return the learners to compare, each with a name of its own.

    Parameters
    ----------
    learners
        Names in the catalogue, estimators, a mapping of your own names to either, or None for
        the default ones of the task.
    task
        "classification" or "regression".

    Examples
    --------
    >>> [choice.label for choice in learner_choices(["naive bayes"], "classification")]
    ['parametric.NaiveBayes']
    """
    pairs = _pairs(DEFAULT_LEARNERS[task] if learners is None else learners)
    if not pairs:
        raise ValueError("learners: at least one learner is needed.")
    for name, given in pairs:
        if not isinstance(given, str) and not hasattr(given, "get_params"):
            raise TypeError(
                f"learners: expected names or estimators, got {type(given).__name__} for {name!r}."
            )
    return [LearnerChoice(given, label=name) for name, given in pairs]


def _pairs(learners: Sequence[Any] | Mapping[str, Any] | str) -> list[tuple[str, Any]]:
    if isinstance(learners, Mapping):
        return [(str(name), given) for name, given in learners.items()]
    if isinstance(learners, str) or hasattr(learners, "fit"):
        learners = [learners]
    return [
        (entry(given).name if isinstance(given, str) else type(given).__name__, given)
        for given in learners
    ]
