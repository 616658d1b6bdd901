"""Learners of a comparison, by whatever they are given."""

from collections.abc import Mapping, Sequence
from typing import Any

from verulam.catalogue import entry
from verulam.experiment._study import LearnerChoice

#: What is compared when nothing is named, simplest first. Of methods that are ours and borrowed
#: alike, the borrowed one: its answer is the same, and nobody waits for a compiler the first time.
DEFAULT_LEARNERS = {
    "classification": (
        "majority class",
        "parametric.NaiveBayes",
        "logistic regression",
        "decision tree",
        "parametric.GaussianClassifier",
        "k-nearest neighbours",
        "support vector machine",
        "random forest",
    ),
    "regression": (
        "mean predictor",
        "linear regression",
        "regression tree",
        "k-nearest neighbours smoother",
        "support vector regression",
        "random forest regression",
    ),
}
#: Their time grows with the square of the rows or faster: not for more rows than this, unless
#: they are asked for.
QUADRATIC = frozenset({"support vector machine", "support vector regression"})
MOST_QUADRATIC_ROWS = 5000


def default_learners(task: str, n_rows: int) -> tuple[list[str], str]:
    """Return what is compared when nothing is named, and a notice about what is left out.

    Parameters
    ----------
    task
        "classification" or "regression".
    n_rows
        Rows of the data set.

    Examples
    --------
    >>> names, notice = default_learners("regression", 100_000)
    >>> "support vector regression" in names, notice
    (False, 'support vector regression is left out, because 100000 rows would take it very long.')
    """
    names = DEFAULT_LEARNERS[task]
    slow = [name for name in names if name in QUADRATIC and n_rows > MOST_QUADRATIC_ROWS]
    kept = [name for name in names if name not in slow]
    reason = f"is left out, because {n_rows} rows would take it very long."
    return kept, f"{', '.join(slow)} {reason}" if slow else ""


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
