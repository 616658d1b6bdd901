"""Data sets and learners of a study, in whatever form they come, and those by default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.data import Dataset, as_pandas
from verulam.experiment._learning.decisions import checked_decision, read_decision
from verulam.experiment._study.data_source import RARE
from verulam.experiment._tasks.environments import EnvironmentChoice
from verulam.experiment._text import named, sentence

if TYPE_CHECKING:
    from verulam.experiment._study.designs import Design

#: What is compared when nothing is named, simplest first.
DEFAULT_LEARNERS = {
    "classification": (
        "majority class",
        "parametric.NaiveBayes",
        "logistic regression",
        "decision tree",
        "parametric.GaussianClassifier",
        "k-nearest neighbours",
        "support vector machine",
        "ensemble.RandomForestClassifier",
        "gradient boosting",
        "neural network",
    ),
    "regression": (
        "mean predictor",
        "linear regression",
        "regression tree",
        "k-nearest neighbours smoother",
        "support vector regression",
        "ensemble.RandomForestRegressor",
        "gradient boosting regression",
        "neural network regression",
    ),
}
#: What joins them where a class is rare, and where labels are measured then.
BALANCED = ("logistic regression (balanced)",)
TUNED_THRESHOLD = (
    "logistic regression (tuned threshold)",
    "gradient boosting (tuned threshold)",
)
#: What joins them where decisions have losses, and labels are measured.
LEAST_RISK = ("logistic regression (least risk)", "gradient boosting (least risk)")
#: Learners of numbers that say how sure they are.
WITH_INTERVALS = ("bayes.BayesianLinearRegression", "bayes.GaussianProcessRegressor")
#: Their time grows with the square of the rows or faster: not for more rows than this, unless
#: they are asked for.
QUADRATIC = frozenset(
    {"support vector machine", "support vector regression", "bayes.GaussianProcessRegressor"}
)
#: Of more rows they are left out by default: their time grows with the square, or worse.
MOST_QUADRATIC_ROWS = 5000


@dataclass(frozen=True, eq=False)
class DataChoice:
    """One data set of a study.

    Attributes
    ----------
    source
        Name of a bundled data set, path of a file, a DataFrame (of pandas, polars or Arrow) or a
        data set.
    target
        The column to predict, where the data set does not say. Of a list of several columns of
        numbers, which are learnt together, it becomes the first.
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
    categorical
        Columns of numbers that are codes, each value a category; of the target, each a class.
    weights
        Column that says how much each row weighs, in learning and in the measures; None for all
        the same.
    outputs
        The columns to predict, where there are several; none where there is one.
    """

    source: str | Path | pd.DataFrame | Dataset
    target: str | None = None
    label: str | None = None
    groups: str | None = None
    drop_missing_target: bool = False
    leave_out: Sequence[str] = ()
    rare: str = "keep"
    keep: Sequence[str] = ()
    categorical: Sequence[str] = ()
    weights: str | None = None
    outputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        target: Any = self.target
        if target is not None and not isinstance(target, str):
            several = named_outputs(target)
            object.__setattr__(self, "target", several[0])
            object.__setattr__(self, "outputs", several if len(several) > 1 else ())
        for key in ("leave_out", "keep", "categorical"):
            names = getattr(self, key)
            object.__setattr__(self, key, (names,) if isinstance(names, str) else tuple(names))
        if self.rare not in RARE:
            raise DataError(f"rare: {self.rare!r}; expected one of {', '.join(RARE)}.")

    def recorded(self, data: Dataset) -> "DataChoice":
        """Return the choice with what a store is to keep: the full path, the target, a label."""
        source = self.source
        if isinstance(source, str | Path):
            source = str(Path(source).resolve() if Path(source).is_file() else source)
        return replace(self, source=source, target=data.target, label=data.name)


def named_outputs(target: Any) -> tuple[str, ...]:
    """Return the columns to predict, of one name or several.

    Parameters
    ----------
    target
        A name, or a list of names.

    Examples
    --------
    >>> named_outputs(["height", "weight"])
    ('height', 'weight')
    """
    names = (target,) if isinstance(target, str) else target
    if not isinstance(names, Sequence) or not names or not all(isinstance(n, str) for n in names):
        raise DataError(f"target: {target!r}; expected the name of a column, or a list of names.")
    repeated = [name for name in names if list(names).count(name) > 1]
    if repeated:
        raise DataError(f"target: {repeated[0]!r} is there twice.")
    return tuple(names)


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
    decision
        How labels come about: "balanced" weights the classes so that they count the same, "tuned
        threshold" finds the best threshold within the training rows, "least risk" goes by the
        losses of the study. None takes the learner at its word. In brackets behind a name it says
        the same: "logistic regression (balanced)".
    """

    learner: Any
    label: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, Any] = field(default_factory=dict)
    tune: Mapping[str, Any] | bool | None = None
    design: "str | Mapping[str, Any] | Design | None" = None
    decision: str | None = None

    def __post_init__(self) -> None:
        if self.decision is None and isinstance(self.learner, str) and "(" in self.learner:
            learner, decision = read_decision(self.learner)
            object.__setattr__(self, "learner", learner)
            object.__setattr__(self, "decision", decision)
        elif self.decision is not None:
            checked_decision(self.decision, "decision")

    def with_decision(self, name: str) -> str:
        """Return a name of the learner, with how its labels come about in brackets."""
        return name if self.decision is None else f"{name} ({self.decision})"


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


def data_choices(sources: Any) -> tuple[DataChoice | EnvironmentChoice, ...]:
    """Return data sets, or environments, as a study has them.

    Parameters
    ----------
    sources
        One or several of: choices, names, files, DataFrames, data sets; or choices of environments.

    Examples
    --------
    >>> [choice.source for choice in data_choices("iris")]
    ['iris']
    """
    ready = (DataChoice, EnvironmentChoice)
    if isinstance(sources, ready) or _is_source(sources):
        sources = [sources]
    choices: list[DataChoice | EnvironmentChoice] = []
    for place, source in enumerate(sources):
        if not (isinstance(source, ready) or _is_source(source)):
            raise DataError(
                f"data[{place}]: got {type(source).__name__}; expected the name of a data set, a "
                "file, a DataFrame, a Dataset, a DataChoice or an EnvironmentChoice."
            )
        choices.append(source if isinstance(source, ready) else DataChoice(source))
    return tuple(choices)


def _is_source(source: Any) -> bool:
    """Tell whether a data set can be made of something: a name, a file or a table."""
    return isinstance(source, str | Path | Dataset) or as_pandas(source) is not None


def learner_label(learner: Mapping[str, Any]) -> str:
    """Return what a described learner is called in the results.

    Parameters
    ----------
    learner
        A learner of the description of a study.
    """
    if learner["label"]:
        return str(learner["label"])
    name = learner["name"]
    name = entry(name).name if isinstance(name, str) else name["class"].rpartition(".")[2]
    return f"{name} ({learner['decision']})" if learner.get("decision") else name


def default_learners(
    task: str,
    n_rows: int,
    *,
    rare: bool = False,
    by_labels: bool = False,
    costly: bool = False,
    intervals: bool = False,
) -> tuple[list[str], str]:
    """Return what is compared when nothing is named, and a notice about what is left out.

    Parameters
    ----------
    task
        "classification" or "regression".
    n_rows
        Rows of the data set.
    rare
        Whether one of two classes is rare: then a weighted learner is among them.
    by_labels
        Whether the measure looks at labels: then thresholds are tuned for a rare class, too.
    costly
        Whether decisions have losses: then a weighted learner is among them, and where the measure
        looks at labels two that decide for the least expected loss.
    intervals
        Whether the measure looks at intervals: then those that give some are compared.

    Examples
    --------
    >>> names, notice = default_learners("regression", 100_000)
    >>> "support vector regression" in names, notice
    (False, 'Support vector regression is left out: 100000 rows would take it very long.')
    """
    names = WITH_INTERVALS if intervals else DEFAULT_LEARNERS[task]
    slow = [name for name in names if name in QUADRATIC and n_rows > MOST_QUADRATIC_ROWS]
    quick = [name for name in names if name not in slow]
    if rare or (costly and task == "classification"):
        quick += BALANCED
    if by_labels:
        quick += [*(TUNED_THRESHOLD if rare else ()), *(LEAST_RISK if costly else ())]
    if not slow:
        return quick, ""
    return quick, sentence(f"{named(slow[0])} is left out: {n_rows} rows would take it very long")


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
    return [
        replace(choice, label=choice.label or choice.with_decision(_name(choice.learner)))
        for choice in choices
    ]


def _name(learner: Any) -> str:
    return entry(learner).spoken if isinstance(learner, str) else type(learner).__name__
