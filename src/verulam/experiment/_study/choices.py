"""Data sets and learners of a study, each with what is said of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from verulam.base import DataError
from verulam.data import Dataset
from verulam.experiment._study.designs import Design
from verulam.experiment._study.target_checks import RARE


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
    """

    source: str | Path | pd.DataFrame | Dataset
    target: str | None = None
    label: str | None = None
    groups: str | None = None
    drop_missing_target: bool = False
    leave_out: Sequence[str] = ()
    rare: str = "keep"

    def __post_init__(self) -> None:
        names = (self.leave_out,) if isinstance(self.leave_out, str) else tuple(self.leave_out)
        object.__setattr__(self, "leave_out", names)
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
    design: str | Mapping[str, Any] | Design | None = None


def learner_choices(given: Any) -> tuple[LearnerChoice, ...]:
    """Return learners as a study has them.

    Parameters
    ----------
    given
        One or several of: choices, names, estimators, pairs of a label and either; or a mapping
        of labels to names or estimators.

    Examples
    --------
    >>> [each.label for each in learner_choices([("mine", "naive bayes"), "nearest mean"])]
    ['mine', None]
    """
    if isinstance(given, Mapping):
        given = list(given.items())
    elif isinstance(given, str | LearnerChoice) or hasattr(given, "get_params"):
        given = [given]
    return tuple(_learner_choice(each, f"learners[{place}]") for place, each in enumerate(given))


def _learner_choice(given: Any, where: str) -> LearnerChoice:
    if isinstance(given, LearnerChoice):
        return given
    label = None
    if isinstance(given, tuple) and len(given) == 2:
        label, given = str(given[0]), given[1]
    if isinstance(given, LearnerChoice):
        return replace(given, label=label)
    if isinstance(given, type) or not (isinstance(given, str) or hasattr(given, "get_params")):
        made = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise DataError(
            f"{where}: got {made}; expected the name of a learner, an estimator, a LearnerChoice, "
            "or a pair of a label and one of these."
        )
    return LearnerChoice(given, label=label)


def data_choices(given: Any) -> tuple[DataChoice, ...]:
    """Return data sets as a study has them.

    Parameters
    ----------
    given
        One or several of: choices, names, files, DataFrames, data sets.

    Examples
    --------
    >>> [each.source for each in data_choices("iris")]
    ['iris']
    """
    kinds = (str, Path, pd.DataFrame, Dataset)
    if isinstance(given, (*kinds, DataChoice)):
        given = [given]
    choices = []
    for place, each in enumerate(given):
        if not isinstance(each, (*kinds, DataChoice)):
            raise DataError(
                f"data[{place}]: got {type(each).__name__}; expected the name of a data set, a "
                "file, a DataFrame, a Dataset or a DataChoice."
            )
        choices.append(each if isinstance(each, DataChoice) else DataChoice(each))
    return tuple(choices)
