"""What is to be said of how the runs of a study were made: tuning, budget, repeatability."""

import json
from collections import Counter

import pandas as pd

from verulam.experiment._store.results import Results
from verulam.experiment._text import shortened
from verulam.experiment._tuning.options import tuning


def run_notes(results: Results) -> list[str]:
    """Return what was tuned and how much each competitor got, and whether the budget is spent.

    Parameters
    ----------
    results
        The study.
    """
    return [line for line in (results.left_out,) if line] + _tuning_lines(results)


def run_caveats(results: Results) -> list[str]:
    """Return of which learners a second run with the same seed ended otherwise.

    Parameters
    ----------
    results
        The study.
    """
    caveats = []
    told = results.unrepeatable()
    for row in told.to_dict("records"):
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


def _tuning_lines(results: Results) -> list[str]:
    how = tuning(results.description.get("tuning"))
    if how is None:
        return []
    table = results.tuning()
    lines = [f"Tuned by {how.title}."]
    runs = results.runs()
    for learner in dict.fromkeys(runs["learner"]):
        found = table[table["learner"] == learner]
        if len(found):
            lines.append(f"{learner}: {_tuned_words(found)}.")
    untuned = sorted(set(runs.loc[runs["status"] == "done", "learner"]) - set(table["learner"]))
    if untuned:
        lines.append(f"Nothing was tuned of {', '.join(untuned)}.")
    return lines


def _tuned_words(found: pd.DataFrame) -> str:
    fewest, most = int(found["fits"].min()), int(found["fits"].max())
    fits = f"{most}" if fewest == most else f"{fewest} to {most}"
    names = ", ".join(found["chosen"].iloc[0])
    chosen = Counter(json.dumps(each, sort_keys=True) for each in found["chosen"])
    setting, times = chosen.most_common(1)[0]
    words = f"{names} tuned, {fits} fits a run"
    if times == 1:
        return f"{words}, another setting chosen in each of {len(found)} runs"
    pairs = ", ".join(f"{name}={value}" for name, value in json.loads(setting).items())
    return f"{words}, {pairs} chosen in {times} of {len(found)} runs"
