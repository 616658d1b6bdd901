"""How the results of a study are obtained once more: a command, or a study file."""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verulam.base import DataError, UnknownNameError
from verulam.experiment._plan.data import planned_data
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._run.sequential import without_found
from verulam.experiment._store.results import Results
from verulam.experiment._store.store import Store
from verulam.experiment._study.file import parse_study
from verulam.experiment._study.study import Study
from verulam.experiment._study.toml import study_toml

_KEYS = "SELECT DISTINCT place, data FROM planned WHERE study = ?"
_RUNS = "SELECT DISTINCT run FROM planned WHERE study = ?"


@dataclass(frozen=True)
class Reproduction:
    """What a reader needs to obtain the same results.

    Attributes
    ----------
    command
        The command that was given; empty where it is not known.
    study_file
        The study as a TOML file; empty where it cannot be written as one.
    obstacle
        Why it cannot.
    store
        Where the results are; empty where they were not kept.
    """

    command: str = ""
    study_file: str = ""
    obstacle: str = ""
    store: str = ""


def reproduction(results: Results, *, command: str = "", kept: bool = True) -> Reproduction:
    """Return how the results of a study are obtained once more.

    Parameters
    ----------
    results
        The study.
    command
        The command that was given, where it is known.
    kept
        Whether its store stays where it is.
    """
    store = results.path.name if kept else ""
    try:
        return Reproduction(command, _study_file(results), "", store)
    except (DataError, UnknownNameError, ValueError, OSError) as error:
        return Reproduction(command, "", str(error), store)


def _study_file(results: Results) -> str:
    """Return the study as TOML, or raise with the reason why there is none that would do."""
    description = _located(without_found(results.description), results.path)
    for given in description["learners"]:
        if not isinstance(given["name"], str):
            raise DataError("its learners were given as Python objects")
    text = study_toml(description)
    read = parse_study(tomllib.loads(text))
    with Store(results.path, read_only=True) as store:
        keys = dict(store.rows(_KEYS, (results.study,)))
        runs = {run for (run,) in store.rows(_RUNS, (results.study,))}
    for place, key in keys.items():
        _check_data(read, place, key)
    _check_runs(read, runs)
    return text


def _check_data(study: Study, place: int, key: str) -> None:
    """Raise where a data set has no name and no file that would give it again."""
    choice = study.data[place]
    if isinstance(choice.source, str) and Path(choice.source).is_file():
        return
    try:
        same = planned_data(study, choice).key == key
    except (DataError, UnknownNameError, OSError):
        same = False
    if not same:
        raise DataError(
            f"the data set {choice.label or choice.source} came from Python, and not from a file"
        )


def _check_runs(study: Study, known: set[str]) -> None:
    """Raise where the study would have other runs: a file has no word for None, nor for objects."""
    # Later repeats may not have been needed.
    first = resampling(study.resampling).repeats
    try:
        runs = make_plan(study).runs
        same = {run.run_id for run in runs if run.split.repeat < first} <= known
    except (AttributeError, TypeError, ValueError, UnknownNameError, OSError):
        same = False
    if not same:
        raise DataError(
            "a file would not give the same runs: a learner has parameters that no file can say, "
            "such as None or an object, or the data are no longer those of the runs"
        )


def _located(description: Mapping[str, Any], store: Path) -> dict[str, Any]:
    """Return a description whose data are named by their full paths, where they are files."""
    located = deepcopy(dict(description))
    for entry in located["data"]:
        source = Path(entry["source"])
        for path in (source, store.parent / source.name):
            if path.is_file():
                entry["source"] = str(path.resolve())
                break
    return located
