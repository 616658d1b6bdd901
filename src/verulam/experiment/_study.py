"""A study: what is asked, of which learners, on which data, measured how."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from verulam.base import DataError, nearest_names
from verulam.data import Dataset
from verulam.experiment._identity import describe
from verulam.experiment._resampling import Resampling, resampling
from verulam.measures import Measure, as_measure

#: What a study may be for, and how it is said.
AIMS = {
    "assess": "Is each learner good enough?",
    "compare": "Which of two learners is better?",
    "choose": "Which learner is best?",
    "order": "In which order of quality do the learners stand?",
}


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
    """

    source: str | Path | pd.DataFrame | Dataset
    target: str | None = None
    label: str | None = None


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
        Parameters that are varied, each with its levels: every combination is run.
    """

    learner: Any
    label: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Study:
    """A question and the experiment that is to answer it.

    Attributes
    ----------
    name
        What the study is called.
    data
        The data sets.
    learners
        The learners, simplest first: where nothing decides, the earlier one is recommended.
    aim
        "assess", "compare", "choose" or "order".
    question
        The question in your own words, for the report.
    measures
        Responses; the first one decides. None takes the error of classes, or the root mean
        squared error of numbers.
    resampling
        How training and validation parts are drawn, such as "10-fold", "5x2" or "holdout".
    training_shares
        Parts of the training rows to learn from; several give learning curves.
    test_share
        Part of each data set that is locked away until the study is finalised; 0 for none.
    seed
        Seed of splits, order and learners.
    time_limit
        Seconds after which a run is stopped; None for no limit.
    memory_limit
        Megabytes that a run may add to its process; None for no limit.

    Examples
    --------
    >>> study = Study("flowers", [DataChoice("iris")], [LearnerChoice("majority class")])
    >>> study.aim, study.resampling, study.test_share
    ('choose', '10-fold', 0.0)
    """

    name: str
    data: Sequence[DataChoice]
    learners: Sequence[LearnerChoice]
    aim: str = "choose"
    question: str = ""
    measures: Sequence[str | Measure] | None = None
    resampling: str | Mapping[str, Any] | Resampling = "10-fold"
    training_shares: Sequence[float] = (1.0,)
    test_share: float = 0.0
    seed: int = 0
    time_limit: float | None = None
    memory_limit: float | None = None

    def __post_init__(self) -> None:
        if self.aim not in AIMS:
            raise DataError(f"aim: {self.aim!r}; expected one of {', '.join(AIMS)}.")
        for key in ("data", "learners"):
            if not getattr(self, key):
                raise DataError(f"{key}: at least one is needed.")
        if not 0.0 <= self.test_share < 1.0:
            raise DataError(
                f"test_share: {self.test_share!r}; expected a number from 0 to below 1."
            )
        for share in self.training_shares:
            if not 0.0 < share <= 1.0:
                raise DataError(f"training_shares: {share!r}; expected numbers above 0, up to 1.")
        for key in ("time_limit", "memory_limit"):
            limit = getattr(self, key)
            if limit is not None and limit <= 0:
                raise DataError(f"{key}: {limit!r}; expected a number above 0, or none at all.")
        for given in self.measures or ():
            as_measure(given)
        resampling(self.resampling)

    def to_json(self) -> str:
        """Return the study as text, for the record; tables are named, not included."""
        return json.dumps(
            {
                "name": self.name,
                "aim": self.aim,
                "question": self.question,
                "measures": [as_measure(given).name for given in self.measures or ()],
                "resampling": str(resampling(self.resampling)),
                "training_shares": list(self.training_shares),
                "test_share": self.test_share,
                "seed": self.seed,
                "time_limit": self.time_limit,
                "memory_limit": self.memory_limit,
                "data": [_described_data(choice) for choice in self.data],
                "learners": [_described_learner(choice) for choice in self.learners],
            },
            ensure_ascii=False,
        )


def read_study(path: str | Path) -> Study:
    """Read a study from a TOML file.

    Data files are looked for beside the study file. Errors name the key.

    Parameters
    ----------
    path
        The file.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a TOML file: {error}.") from error
    try:
        study = parse_study(content, default_name=path.stem)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    beside = [_beside(choice, path.parent) for choice in study.data]
    return replace(study, data=beside)


_KEYS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "aim": str,
    "question": str,
    "measures": list,
    "resampling": (str, dict),
    "training_shares": list,
    "test_share": (int, float),
    "seed": int,
    "time_limit": (int, float),
    "memory_limit": (int, float),
    "data": list,
    "learners": list,
}
_DATA_KEYS: dict[str, type | tuple[type, ...]] = {"source": str, "target": str, "label": str}
_LEARNER_KEYS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "label": str,
    "parameters": dict,
    "factors": dict,
}


def parse_study(content: Mapping[str, Any], *, default_name: str = "study") -> Study:
    """Return the study that a parsed TOML file describes."""
    given = _checked(content, _KEYS, "")
    for key in ("data", "learners"):
        if key not in given:
            raise DataError(f"{key}: missing; add a table [[{key}]].")
    data = [
        DataChoice(**_checked(_table(entry, "source"), _DATA_KEYS, f"data[{number}]."))
        for number, entry in enumerate(given.pop("data"))
    ]
    learners = []
    for number, entry in enumerate(given.pop("learners")):
        checked = _checked(_table(entry, "name"), _LEARNER_KEYS, f"learners[{number}].")
        if "name" not in checked:
            raise DataError(f"learners[{number}].name: missing.")
        for factor, levels in checked.get("factors", {}).items():
            if not isinstance(levels, list) or not levels:
                raise DataError(f"learners[{number}].factors.{factor}: expected a list of levels.")
        learners.append(LearnerChoice(checked.pop("name"), **checked))
    if any(choice.source is None for choice in data):
        raise DataError("data: each entry needs a source.")
    return Study(given.pop("name", default_name), data, learners, **given)


def _table(entry: Any, key: str) -> Any:
    """Return an entry as a table; a plain word stands for its most important key."""
    return {key: entry} if isinstance(entry, str) else entry


def _checked(given: Any, keys: Mapping[str, type | tuple[type, ...]], where: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise DataError(f"{where.rstrip('.')}: expected a table, got {type(given).__name__}.")
    for key, value in given.items():
        if key not in keys:
            nearest = nearest_names(key, keys, count=1)
            raise DataError(f"{where}{key}: no such key. Nearest: {', '.join(nearest)}.")
        expected = keys[key]
        if not isinstance(value, expected) or isinstance(value, bool):
            names = expected if isinstance(expected, tuple) else (expected,)
            words = " or ".join(name.__name__ for name in names)
            raise DataError(f"{where}{key}: expected {words}, got {value!r}.")
    return dict(given)


def _beside(choice: DataChoice, folder: Path) -> DataChoice:
    source = choice.source
    if isinstance(source, str) and not Path(source).is_absolute() and (folder / source).is_file():
        return replace(choice, source=str(folder / source))
    return choice


def _described_data(choice: DataChoice) -> dict[str, Any]:
    source = choice.source
    if isinstance(source, Dataset):
        source = source.name
    if isinstance(source, pd.DataFrame):
        source = "a DataFrame"
    return {"source": str(source), "target": choice.target, "label": choice.label}


def _described_learner(choice: LearnerChoice) -> dict[str, Any]:
    return {
        "name": describe(choice.learner),
        "label": choice.label,
        "parameters": describe(choice.parameters),
        "factors": describe(choice.factors),
    }
