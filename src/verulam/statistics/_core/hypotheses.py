"""Hypotheses in words: the null one contains equality, the claim is the alternative."""

from typing import Any, TypedDict

from verulam.statistics._core.result import Alternative

RELATIONS = {"two-sided": "differs from", "less": "is below", "greater": "is above"}
NULL_RELATIONS = {"two-sided": "equals", "less": "is at least", "greater": "is at most"}
NULLS = {
    "two-sided": "both learners have the same {}",
    "less": "the first learner's {} is not below the second's",
    "greater": "the first learner's {} is not above the second's",
}
CLAIMS = {
    "two-sided": "the {}s differ",
    "less": "the first learner's {} is below the second's",
    "greater": "the first learner's {} is above the second's",
}


NAMED_NULLS = {
    "two-sided": "{} and {} are equal",
    "less": "{} is not below {}",
    "greater": "{} is not above {}",
}
NAMED_CLAIMS = {
    "two-sided": "{} and {} differ",
    "less": "{} is below {}",
    "greater": "{} is above {}",
}
SWAPPED: dict[str, Alternative] = {
    "two-sided": "two-sided",
    "less": "greater",
    "greater": "less",
}


class Hypotheses(TypedDict):
    """The two fields of a result that state the hypotheses."""

    null: str
    alternative: str


def hypotheses(what: str, value: float, alternative: Alternative) -> Hypotheses:
    """Return both hypotheses about one quantity in words; the null one contains equality."""
    return {
        "null": f"{what} {NULL_RELATIONS[alternative]} {value:g}",
        "alternative": f"{what} {RELATIONS[alternative]} {value:g}",
    }


def paired_hypotheses(what: str, alternative: Alternative) -> Hypotheses:
    """Return both hypotheses about two learners in words."""
    return {
        "null": NULLS[alternative].format(what),
        "alternative": CLAIMS[alternative].format(what),
    }


def named_hypotheses(first: Any, second: Any, alternative: Alternative) -> Hypotheses:
    """Return both hypotheses about two learners, called by their names."""
    return {
        "null": NAMED_NULLS[alternative].format(first, second),
        "alternative": NAMED_CLAIMS[alternative].format(first, second),
    }
