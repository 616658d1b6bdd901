"""What goes with an answer: what is missing, what failed, what to keep in mind."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from verulam.experiment._plan.text import design_remarks
from verulam.experiment._resampling.kinds import INDEPENDENT, OVERLAP
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._text import few, measure_words, named, sentence, shortened
from verulam.experiment._tuning.options import tuning

if TYPE_CHECKING:
    from verulam.experiment._evidence.verdict import Verdict
    from verulam.experiment._store.predictions import StoredPredictions
    from verulam.experiment._store.responses import Responses
    from verulam.experiment._store.results import Results

ABOUT_THESE_DATA = (
    "The conclusion is about these data; no learner is best on all, so that other data may give "
    "another order."
)
ABOUT_THESE_WORLDS = (
    "The conclusion is about these environments and so many episodes of training; with others, "
    "another agent may be best."
)
#: On more data sets than this, notes on each would bury the rest.
MOST_DATA_SETS = 10
#: What some learners do not give.
MAY_LACK = ("probabilities", "scores")
#: Of more classes than this, a few are bound to go without a prediction.
MOST_CLASSES = 20


def notes_of(
    results: "Results", verdicts: Mapping[str, "Verdict"], over_data: "Verdict | None"
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
    counts, failures, left_out = results.status(), results.failures(), results.left_out
    notes = []
    if left := counts.get("left", 0):
        notes.append(
            f"{left} of {sum(counts.values())} runs are left: the study is not complete, and the "
            "answer may change."
        )
    notes += [*failure_lines(failures), *([left_out] if left_out else []), *tuning_notes(results)]
    for verdict in [*verdicts.values(), *([over_data] if over_data else [])]:
        notes += verdict.notes
    return tuple(notes)


def failure_lines(failures: pd.DataFrame) -> list[str]:
    """Return one line per kind of failure, with the number of runs that had it.

    Parameters
    ----------
    failures
        The runs of a study that did not succeed.
    """
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


def race_sentence(dropped: Mapping[str, int], repeats: int) -> str:
    """Return who dropped out of the race and got fewer repeats; empty where nobody did.

    Parameters
    ----------
    dropped
        For each contestant that could not win any more the repeats that it got.
    repeats
        How many the others got.
    """
    if not dropped:
        return ""
    fewest, most = min(dropped.values()), max(dropped.values())
    count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    names = few([named(name) for name in dropped])
    return f"Unable to win after {count} of {repeats} repeats, and given no more: {names}."


def caveats_of(
    results: "Results",
    verdicts: Mapping[str, "Verdict"],
    over_data: "Verdict | None",
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
    how = resampling(results.description["resampling"])
    test_caveats = [
        _sentence(text)
        for test in (main.tests if main else ())
        for text in test.caveats
        # Where training parts share no row, what tests say of those that do is beside the point.
        if not (how.kind in INDEPENDENT and "overlap" in text)
    ]
    # The tests say in their own words what overlapping training parts do.
    overlap = any("overlap" in text for text in test_caveats)
    drawn = how.caveats
    caveats = [*(text for text in drawn if not (overlap and text == OVERLAP)), *test_caveats]
    caveats += design_remarks(results.description)
    acting = results.description.get("task") == "control"
    about = ABOUT_THESE_WORLDS if acting else ABOUT_THESE_DATA
    caveats += [*run_caveats(results), f"Simpler means {simplicity}.", about]
    return tuple(dict.fromkeys(caveats))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def run_caveats(results: "Results") -> list[str]:
    """Return of which learners a second run with the same seed ended otherwise.

    Parameters
    ----------
    results
        The study.
    """
    caveats = []
    differing = results.unrepeatable()
    for row in differing.to_dict("records"):
        name = f"{row['learner']} ({row['setting']})" if row["setting"] else row["learner"]
        caveats.append(
            f"{name} is not deterministic: one of its runs on {row['data']}, made again with the "
            f"same seed, gave {row['difference']}. Its results cannot be reproduced exactly."
        )
    if results.description.get("tuning"):
        caveats.append(
            "Learners were tuned within the training rows of each run: a score is that of the "
            "learner with its search, not of one setting."
        )
    return caveats


def warning_lines(runs: pd.DataFrame) -> list[str]:
    """Return one line per learner and kind of warning, with the number of runs that gave it.

    Parameters
    ----------
    runs
        The runs of a study.
    """
    warned = runs[runs["warning"].fillna("") != ""]
    kinds = warned["warning"].map(lambda text: text.partition(":")[0])
    return [
        f"{learner}: {len(texts)} of its runs warned, first with {shortened(texts.iloc[0])}"
        for (learner, _), texts in warned.groupby(["learner", kinds], sort=False)["warning"]
    ]


def tuning_notes(results: "Results") -> list[str]:
    """Return what was tuned, and how many settings each contestant got to try.

    Parameters
    ----------
    results
        The study.
    """
    how = tuning(results.description.get("tuning"))
    if how is None:
        return []
    table = results.tuning()
    lines = [f"Tuned by {how.title}."]
    runs = results.runs()
    for learner in dict.fromkeys(runs["learner"]):
        searches = table[table["learner"] == learner]
        if len(searches):
            lines.append(f"{learner}: {_tuned_words(searches)}.")
    untuned = sorted(set(runs.loc[runs["status"] == "done", "learner"]) - set(table["learner"]))
    if untuned:
        lines.append(f"Nothing was tuned of {', '.join(untuned)}.")
    return lines


def _tuned_words(searches: pd.DataFrame) -> str:
    fewest, most = int(searches["fits"].min()), int(searches["fits"].max())
    fits = f"{most}" if fewest == most else f"{fewest} to {most}"
    names = ", ".join(searches["chosen"].iloc[0])
    counts = Counter(json.dumps(setting, sort_keys=True) for setting in searches["chosen"])
    setting, times = counts.most_common(1)[0]
    words = f"{names} tuned, {fits} fits a run"
    if times == 1:
        return f"{words}, another setting chosen in each of {len(searches)} runs"
    pairs = ", ".join(f"{name}={value}" for name, value in json.loads(setting).items())
    return f"{words}, {pairs} chosen in {times} of {len(searches)} runs"


def overlooked_classes(
    predictions: "StoredPredictions", responses: "Responses", recommended: str | None
) -> list[str]:
    """Return a line for each data set on which the recommended contestant overlooks a class.

    Parameters
    ----------
    predictions
        What was predicted.
    responses
        Contestants and data sets.
    recommended
        Name of the contestant; a baseline, which knows one class by its nature, gets no line.
    """
    contestants = {contestant.name: contestant for contestant in responses.contestants}
    recommendation = contestants.get(str(recommended))
    if recommendation is None or recommendation.baseline or len(responses.data) > MOST_DATA_SETS:
        return []
    lines = []
    for data in responses.data:
        pooled = predictions.pooled(data, recommendation.learner, recommendation.setting)
        if pooled is None or not 2 <= len(pooled.classes) <= MOST_CLASSES:
            continue
        predicted, true = set(pooled.predicted.tolist()), pooled.targets.tolist()
        for label in sorted(set(true) - predicted):
            share = true.count(label) / len(true)
            lines.append(
                sentence(
                    f"{named(recommendation.name)} never predicts {label!r} on {data}, which is "
                    f"{100 * share:.1f} % of the rows. If that class matters, let "
                    "balanced_accuracy, f_score or your own losses decide, or give its rows more "
                    "weight.",
                    responses.names,
                )
            )
    return lines


def unscored_contestants(responses: "Responses") -> list[str]:
    """Return a line for each contestant that has run but has no value of the measure.

    Parameters
    ----------
    responses
        Contestants, runs and scores.
    """
    done = set(responses.runs.loc[responses.runs["status"] == "done", "contestant"])
    scored = set(responses.scores.dropna(subset="score")["contestant"])
    measure = responses.measure
    reason = f"it gives no {measure.needs}" if measure.needs in MAY_LACK else "it is undefined"
    return [
        sentence(f"{named(name)} has no {measure_words(measure)}: {reason} here", responses.names)
        for name in responses.names
        if name in done and name not in scored
    ]
