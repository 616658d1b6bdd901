"""What goes with an answer: what is missing, what failed, what to keep in mind."""

from collections.abc import Mapping

from verulam.experiment._evidence.verdict import Verdict
from verulam.experiment._plan.remarks import design_remarks
from verulam.experiment._resampling.kinds import OVERLAP
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.results import Results
from verulam.experiment._text import shortened
from verulam.experiment._words.run_notes import run_caveats, run_notes

ABOUT_THESE_DATA = (
    "The conclusion is about these data; no learner is best on all, so that other data may give "
    "another order."
)


def notes_of(
    results: Results, verdicts: Mapping[str, Verdict], over_data: Verdict | None
) -> tuple[str, ...]:
    """Return what is missing from a study.

    Parameters
    ----------
    results
        The study.
    verdicts
        What the tests say on each data set.
    over_data
        What they say over all.
    """
    counts = results.status()
    notes = []
    if left := counts.get("left", 0):
        notes.append(
            f"{left} of {sum(counts.values())} runs are left: the study is not complete, and the "
            "answer may change."
        )
    notes += failure_lines(results) + run_notes(results)
    for verdict in [*verdicts.values(), *([over_data] if over_data else [])]:
        notes += verdict.notes
    return tuple(notes)


def failure_lines(results: Results) -> list[str]:
    """Return one line per kind of failure, with the number of runs that had it.

    Parameters
    ----------
    results
        The study.
    """
    failures = results.failures()
    if failures.empty:
        return []
    kinds = (
        failures.groupby(["learner", "status", "error"], sort=False).size().reset_index(name="n")
    )
    lines = []
    for row in kinds.to_dict("records"):
        words = f"{row['learner']}: {row['n']} {'run' if row['n'] == 1 else 'runs'} {row['status']}"
        lines.append(f"{words}, {shortened(row['error'])}" if row["error"] else words)
    return lines


def caveats_of(
    results: Results,
    verdicts: Mapping[str, Verdict],
    over_data: Verdict | None,
    simplicity: str,
) -> tuple[str, ...]:
    """Return what to keep in mind.

    Parameters
    ----------
    results
        The study.
    verdicts
        What the tests say on each data set.
    over_data
        What they say over all.
    simplicity
        What being simple means, in words.
    """
    main = over_data or next(iter(verdicts.values()), None)
    told = [_sentence(text) for test in (main.tests if main else ()) for text in test.caveats]
    # The tests say in their own words what overlapping training parts do.
    overlap = any("overlap" in text for text in told)
    drawn = resampling(results.description["resampling"]).caveats
    caveats = [*(text for text in drawn if not (overlap and text == OVERLAP)), *told]
    caveats += design_remarks(results.description)
    caveats += [*run_caveats(results), f"Simpler means {simplicity}.", ABOUT_THESE_DATA]
    return tuple(dict.fromkeys(caveats))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
