"""The design of a study as a report tells it: what was asked, varied, held and locked away."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from verulam.experiment._final.test_set_log import finalisations, use_words
from verulam.experiment._store.responses import spoken_name
from verulam.experiment._study.budget import budget
from verulam.experiment._study.designs import FULL, read_design
from verulam.experiment._study.notebook import levels_text
from verulam.experiment._study.study import AIMS, learner_label
from verulam.experiment._text import counted
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
        What was found.
    """
    study = analysis.results.description
    facts = {
        "Aim": [f"{study['aim']}: {study['question'] or AIMS[study['aim']]}"],
        "Response": [", ".join(_responses(analysis, study))],
        "Learners": [_learners(study)],
        "Factors": list(_factors(study)),
        "Nuisance": [", ".join(study["nuisance"])],
        "Splits": [f"{analysis.design}, drawn once for each data set and shared by all"],
        **_repetitions(study),
        **_spending(study),
        "Locked away": list(_locked(analysis.results)),
        "Runs": [_runs(analysis.results)],
        "Seed": [str(study["seed"])],
    }
    return {
        name: kept
        for name, lines in facts.items()
        if (kept := tuple(line for line in lines if line))
    }


def _responses(analysis: "Analysis", study: Mapping[str, Any]) -> list[str]:
    """Return what was measured, with what decides in front."""
    others = [*study["measures"], *study["response"]]
    return list(dict.fromkeys([analysis.measure.name, *others]))


def _learners(study: Mapping[str, Any]) -> str:
    names = [learner_label(each) for each in study["learners"]]
    if len(names) > MOST_LEARNERS:
        return counted(len(names), "learner")
    return ", ".join(spoken_name(name) for name in names)


def _factors(study: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each learner whose settings vary, and one for preparations."""
    for learner in study["learners"]:
        levels = [f"{name} = {levels_text(given)}" for name, given in learner["factors"].items()]
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
