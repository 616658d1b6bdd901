"""Data sets and learners of a study, in whatever form they come, and those by default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.data import Dataset
from verulam.experiment._study.target_checks import RARE

if TYPE_CHECKING:
    from verulam.experiment._study.designs import Design

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
        "gradient boosting",
    ),
    "regression": (
        "mean predictor",
        "linear regression",
        "regression tree",
        "k-nearest neighbours smoother",
        "support vector regression",
        "random forest regression",
        "gradient boosting regression",
    ),
}
#: Their time grows with the square of the rows or faster: not for more rows than this, unless
#: they are asked for.
QUADRATIC = frozenset({"support vector machine", "support vector regression"})
MOST_QUADRATIC_ROWS = 5000


@dataclass(frozen=True, eq=False)
class DataChoice:
    """One data set of a study.

    Attributes
    ----------
    source
        Name of a bundled data set, path of a file, a DataFrame or a data set.
    target
        The column to predict, where the data set does not say.
    label
        What it is called in the results.
    groups
        Column whose equal values stay on one side of every split; None takes that of the
        resampling.
    drop_missing_target
        Leave out the rows whose target is missing, instead of refusing them.
    leave_out
        Columns that are no inputs, such as the number of a customer.
    rare
        What is done with classes of fewer than 5 rows: "keep", "drop" leaves their rows out,
        "join" makes one class of them.
    keep
        Columns that are inputs although they seem to name the rows alone.
    """

    source: str | Path | pd.DataFrame | Dataset
    target: str | None = None
    label: str | None = None
    groups: str | None = None
    drop_missing_target: bool = False
    leave_out: Sequence[str] = ()
    rare: str = "keep"
    keep: Sequence[str] = ()

    def __post_init__(self) -> None:
        for key in ("leave_out", "keep"):
            names = getattr(self, key)
            object.__setattr__(self, key, (names,) if isinstance(names, str) else tuple(names))
        if self.rare not in RARE:
            raise DataError(f"rare: {self.rare!r}; expected one of {', '.join(RARE)}.")


@dataclass(frozen=True, eq=False)
class LearnerChoice:
    """One learner of a study.

    Attributes
    ----------
    learner
        Name in the catalogue, or an estimator.
    label
        What it is called in the results.
    parameters
        Parameters that are the same in all runs.
    factors
        Parameters that are varied, each with a list of levels, a range such as
        ``{"low": 0.01, "high": 100, "scale": "log"}``, or multiples of a scale of the data,
        ``{"multiples": [0.5, 1, 2], "of": "neighbour distance"}``. Beside parameters, "data_set",
        "preparation" and "training_share" may be factors of the learner's design.
    tune
        Parameters that are tuned within the training rows of each run, each with a list of
        values or a range such as ``{"low": 0.01, "high": 100, "scale": "log"}``. None takes the
        usual ones of the learner, False tunes nothing. Without the study's `tuning`, none are.
    design
        Which settings of the factors are run: a kind such as "one at a time", a `Design`, or a
        mapping with its attributes. None takes the design of the study.
    """

    learner: Any
    label: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, Any] = field(default_factory=dict)
    tune: Mapping[str, Any] | bool | None = None
    design: "str | Mapping[str, Any] | Design | None" = None


def learner_choices(learners: Any) -> tuple[LearnerChoice, ...]:
    """Return learners as a study has them.

    Parameters
    ----------
    learners
        One or several of: choices, names, estimators, pairs of a label and either; or a mapping
        of labels to names or estimators.

    Examples
    --------
    >>> [choice.label for choice in learner_choices([("mine", "naive bayes"), "nearest mean"])]
    ['mine', None]
    """
    if isinstance(learners, Mapping):
        learners = list(learners.items())
    elif isinstance(learners, str | LearnerChoice) or hasattr(learners, "get_params"):
        learners = [learners]
    return tuple(
        _learner_choice(learner, f"learners[{place}]") for place, learner in enumerate(learners)
    )


def _learner_choice(learner: Any, where: str) -> LearnerChoice:
    if isinstance(learner, LearnerChoice):
        return learner
    label = None
    if isinstance(learner, tuple) and len(learner) == 2:
        label, learner = str(learner[0]), learner[1]
    if isinstance(learner, LearnerChoice):
        return replace(learner, label=label)
    is_class = isinstance(learner, type)
    if is_class or not (isinstance(learner, str) or hasattr(learner, "get_params")):
        kind = f"the class {learner.__name__}" if is_class else type(learner).__name__
        raise DataError(
            f"{where}: got {kind}; expected the name of a learner, an estimator, a LearnerChoice, "
            "or a pair of a label and one of these."
        )
    return LearnerChoice(learner, label=label)


def data_choices(sources: Any) -> tuple[DataChoice, ...]:
    """Return data sets as a study has them.

    Parameters
    ----------
    sources
        One or several of: choices, names, files, DataFrames, data sets.

    Examples
    --------
    >>> [choice.source for choice in data_choices("iris")]
    ['iris']
    """
    kinds = (str, Path, pd.DataFrame, Dataset)
    if isinstance(sources, (*kinds, DataChoice)):
        sources = [sources]
    choices = []
    for place, source in enumerate(sources):
        if not isinstance(source, (*kinds, DataChoice)):
            raise DataError(
                f"data[{place}]: got {type(source).__name__}; expected the name of a data set, a "
                "file, a DataFrame, a Dataset or a DataChoice."
            )
        choices.append(source if isinstance(source, DataChoice) else DataChoice(source))
    return tuple(choices)


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
    quick = [name for name in names if name not in slow]
    reason = f"is left out, because {n_rows} rows would take it very long."
    return quick, f"{', '.join(slow)} {reason}" if slow else ""


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
