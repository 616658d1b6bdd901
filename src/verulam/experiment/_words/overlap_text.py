"""Sentences on the errors that contestants share, and on what they would achieve together."""

from typing import TYPE_CHECKING

import numpy as np

from verulam.experiment._text import named, number_text

if TYPE_CHECKING:
    from verulam.experiment._analysis.error_overlap import Overlap, Vote

VOTERS = {
    "probabilities": "the mean of the probabilities of these",
    "numbers": "the mean of the numbers of these",
    "plurality": "a majority vote of these",
}


def overlap_sentence(overlap: "Overlap") -> str:
    """Return who errs where the others do not, and what all would achieve together.

    Parameters
    ----------
    overlap
        How far contestants agree in their errors.
    """
    *pair, least = overlap.most_different
    first, second = (named(str(name)) for name in pair)
    if overlap.numbers:
        likeness = (
            f"The errors of {first} and {second} are the least alike (correlation {least:.2f})."
        )
    else:
        likeness = (
            f"On {_percent(overlap.all_wrong)} of the rows all err, on "
            f"{_percent(overlap.some_right)} only some do. Most different are {first} and "
            f"{second}, which share {100 * least:.0f} % of their errors."
        )
    return likeness if overlap.vote is None else f"{likeness} {vote_sentence(overlap.vote)}"


def vote_sentence(vote: "Vote") -> str:
    """Return what contestants would achieve together, beside the best of them.

    Parameters
    ----------
    vote
        What they would achieve.
    """
    best = f"{named(vote.best)}, the best of them,"
    if vote.rule == "numbers":
        # Roots are in the units of the target; their difference is that of the squares, to the
        # first order over the sum of the roots.
        roots = np.sqrt(vote.error), np.sqrt(vote.best_error)
        scale = max(float(sum(roots)), np.finfo(float).tiny)
        first, second = (number_text(float(root)) for root in roots)
        achieved = f"have a root mean squared error of {first}; {best} has {second}"
        unit, form = "", ".3g"
    else:
        scale, unit, form = 0.01, " points", ".1f"
        achieved = f"err on {_percent(vote.error)} of the rows; {best} errs on "
        achieved += _percent(vote.best_error)
    limits = " to ".join(f"{edge / scale:+z{form}}" for edge in (vote.low, vote.high))
    verdict = "which is no clear difference"
    if vote.high < 0:
        verdict = "so that together they are better than the best alone"
    elif vote.low > 0:
        verdict = "so that the best is better alone"
    voters = VOTERS[vote.rule]
    return (
        f"{voters[0].upper()}{voters[1:]} {vote.members} would {achieved} (difference {limits}"
        f"{unit}), {verdict}."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
