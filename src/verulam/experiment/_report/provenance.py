"""Provenance of a report: what the study was, where its results come from, how to repeat it."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verulam.base import DataError, UnknownNameError
from verulam.experiment._plan.data import planned_data
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.results import Results
from verulam.experiment._store.test_set_log import finalisations, use_words
from verulam.experiment._study.budget import budget
from verulam.experiment._study.choices import learner_label
from verulam.experiment._study.designs import FULL, read_design, without_added_settings
from verulam.experiment._study.notebook import levels_text
from verulam.experiment._study.study import Study, aim_question
from verulam.experiment._study.toml import parse_study, study_toml
from verulam.experiment._text import counted, measure_words, spoken_name
from verulam.experiment._tuning.options import tuning

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis
    from verulam.experiment._store.results import Results

#: More learners than this are counted, since the table of results names them.
MOST_LEARNERS = 12


def design_facts(analysis: "Analysis") -> dict[str, tuple[str, ...]]:
    """Return what a study was, as lines under short names; what it did not use is left out.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    study = analysis.results.description
    facts = {
        "Aim": [f"{study['aim']}: {aim_question(study)}"],
        "Response": [", ".join(_responses(analysis, study))],
        "Learners": [_learners(study)],
        "Factors": list(_factors(study)),
        "Nuisance": [", ".join(study["nuisance"])],
        "Splits": [f"{analysis.results.design}, drawn once for each data set and shared by all"],
        **_repetitions(study),
        **_spending(study),
        "Locked away": list(_locked(analysis.results)),
        "Runs": [_runs(analysis.results)],
        "Seed": [str(study["seed"])],
    }
    return {
        name: present
        for name, lines in facts.items()
        if (present := tuple(line for line in lines if line))
    }


def _responses(analysis: "Analysis", study: Mapping[str, Any]) -> list[str]:
    """Return what was measured, with what decides in front."""
    others = [*study["measures"], *study["response"]]
    first, words = analysis.measure.name, measure_words(analysis.measure)
    names = list(dict.fromkeys([first, *others]))
    # The name is what a study file calls it.
    return names if words == first else [f"{words} ({first})", *names[1:]]


def _learners(study: Mapping[str, Any]) -> str:
    names = [learner_label(learner) for learner in study["learners"]]
    if len(names) > MOST_LEARNERS:
        return counted(len(names), "learner")
    return ", ".join(spoken_name(name) for name in names)


def _factors(study: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each learner whose settings vary, and one for preparations."""
    for learner in study["learners"]:
        levels = [f"{name} = {levels_text(tried)}" for name, tried in learner["factors"].items()]
        if levels:
            kind = read_design(learner.get("design") or study.get("design")).kind
            layout = "every combination" if kind == FULL else kind
            words = f" ({layout})" if len(levels) > 1 or kind != FULL else ""
            yield f"{learner_label(learner)}: {'; '.join(levels)}{words}"
    if len(study["preparations"]) > 1:
        yield f"preparation: {', '.join(study['preparations'])}"


def _repetitions(study: Mapping[str, Any]) -> dict[str, list[str]]:
    shares = study["training_shares"]
    several = f"{', '.join(map(str, shares))}; contestants are judged on the largest"
    return {
        "Training shares": [several if len(shares) > 1 else ""],
        "Replications": [str(study["replications"]) if study["replications"] > 1 else ""],
    }


def _spending(study: Mapping[str, Any]) -> dict[str, list[str]]:
    tuned, spent = tuning(study["tuning"]), budget(study["budget"])
    time, memory = study["time_limit"], study["memory_limit"]
    return {
        "Tuning": [tuned.title if tuned else ""],
        "Budget": [spent.title if spent else ""],
        "Time limit": [f"{time:g} s for a run" if time else ""],
        "Memory limit": [f"{memory:g} MB for a run" if memory else ""],
    }


def _locked(results: "Results") -> Iterator[str]:
    """Yield what was locked away, and every look that was taken at it."""
    share = results.description["test_share"]
    if not share:
        return
    words = f"{100 * share:.0f}% of the rows of each data set"
    used = finalisations(results.path, results.study)
    if used.empty:
        yield f"{words}, untouched so far"
        return
    yield words
    for _, row in used.iterrows():
        yield f"{row['label']} used on {use_words(row)}: {row['response'] or 'not completed'}"


def _runs(results: "Results") -> str:
    counts = ", ".join(f"{count} {status}" for status, count in results.status().items())
    order = "split by split" if results.description["budget"] else "in random order"
    return f"{counts}, {order}"


def origins(results: Results) -> dict[str, Any]:
    """Return where the results come from: data, preparation, environments, the study itself."""
    return {
        "environments": results.environments(),
        "data_sets": results.data_sets().to_dict("records"),
        "preparation": results.preparations(),
        "study_json": json.dumps(results.description, indent=2, ensure_ascii=False),
    }


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


def reproduction(results: Results, *, command: str = "", persistent: bool = True) -> Reproduction:
    """Return how the results of a study are obtained once more.

    Parameters
    ----------
    results
        The study.
    command
        The command that was given, where it is known.
    persistent
        Whether its store stays where it is.
    """
    store = results.path.name if persistent else ""
    try:
        return Reproduction(command, _study_file(results), "", store)
    except (DataError, UnknownNameError, ValueError, OSError) as error:
        return Reproduction(command, "", str(error), store)


def _study_file(results: Results) -> str:
    """Return the study as TOML, or raise with the reason why there is none that would do."""
    description = without_added_settings(_located(results.description, results.path))
    for learner in description["learners"]:
        if not isinstance(learner["name"], str):
            raise DataError("its learners were given as Python objects")
    text = study_toml(description)
    read = parse_study(tomllib.loads(text))
    for data in results.data_keys():
        _check_data(read, data.place, data.key)
    _check_runs(read, results.run_ids())
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
