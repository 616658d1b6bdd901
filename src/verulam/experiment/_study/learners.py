"""Learners of a comparison, by whatever they are given."""

from dataclasses import replace
from typing import Any

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.experiment._study.choices import LearnerChoice, learner_choices

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


def labelled_learners(learners: Any) -> list[LearnerChoice]:
    """Return the learners to compare, each with a name of its own.

    Parameters
    ----------
    learners
        Names in the catalogue, estimators, pairs of a label and either, or a mapping of labels to
        either.

    Examples
    --------
    >>> [choice.label for choice in labelled_learners(["naive bayes"])]
    ['naive Bayes']
    """
    choices = learner_choices(learners)
    if not choices:
        raise DataError("learners: at least one learner is needed.")
    return [replace(choice, label=choice.label or _name(choice.learner)) for choice in choices]


def _name(learner: Any) -> str:
    return entry(learner).spoken if isinstance(learner, str) else type(learner).__name__
