"""How a plan reads: how many runs, of what, and how its splits were drawn."""

from math import prod
from typing import TYPE_CHECKING

from verulam.experiment._resampling.drawn_splits import drawn_word
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._text import counted
from verulam.experiment._tuning.options import tuning

if TYPE_CHECKING:
    from verulam.experiment._plan.plan import Plan

#: So many data sets are named.
MOST_NAMED = 6


def plan_text(plan: "Plan") -> str:
    """Return a plan in one sentence.

    Parameters
    ----------
    plan
        The plan.
    """
    study = plan.study
    names = ", ".join(each.label for each in plan.data[:MOST_NAMED])
    more = ", ..." if len(plan.data) > MOST_NAMED else ""
    data = f"{counted(len(plan.data), 'data set')} ({names}{more})"
    folds = {each.label: len({split.fold for split in each.splits}) for each in plan.data}
    how = tuning(study.tuning)
    tuned = "" if how is None else f". Tuned by {how.title}"
    locked = f", {100 * study.test_share:.0f}% of the rows locked away" if study.test_share else ""
    asked = resampling(study.resampling)
    most = "" if asked.max_repeats is None else "up to "
    return (
        f"{study.name}: {most}{counted(len(plan.runs), 'run')} {_factors(plan, data)}, "
        f"{drawn_word(asked, folds)}, seed {study.seed}"
        f"{locked}{tuned}{plan.budget_text}"
    )


def _factors(plan: "Plan", data: str) -> str:
    """Return the numbers whose product is the number of runs, or what there is of each."""
    study = plan.study
    settings = sorted({len(each) for each in plan.contestants})
    splits = sorted({len(each.splits) for each in plan.data})
    numbers = [*settings, len(plan.data), *splits, len(study.training_shares), study.replications]
    exact = len(settings) == len(splits) == 1 and prod(numbers) == len(plan.runs)
    parts = [_counts(settings, "setting") + " of learners", data, _counts(splits, "split")]
    if len(study.training_shares) > 1:
        parts.append(f"{len(study.training_shares)} training shares")
    if study.replications > 1:
        parts.append(f"{study.replications} replications")
    return f"= {' x '.join(parts)}" if exact else f"of {', '.join(parts)}"


def _counts(counts: list[int], word: str) -> str:
    """Return a number of things, or the range of it."""
    if len(counts) == 1:
        return counted(counts[0], word)
    return f"{counts[0]} to {counts[-1]} {word}s"
