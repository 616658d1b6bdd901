"""What counts as simple: the order in which contestants are preferred where tests do not decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from verulam.base import unknown_name
from verulam.catalogue import GRADES, entry, grade_of
from verulam.experiment._contestants import Responses
from verulam.experiment._costs import COSTS
from verulam.experiment._study import learner_label
from verulam.experiment._wishes import CRITERIA, INTERPRETABILITY, Simplicity

STUDY_ORDER = "earlier in the study's list"


@dataclass(frozen=True)
class Preference:
    """Contestants in the order of a criterion, and the criterion in words.

    Attributes
    ----------
    responses
        The scores, with the simplest contestants first.
    words
        What simple means.
    """

    responses: Responses
    words: str


def interpretability_grades(
    responses: Responses, learners: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Return how well each contestant can be read, from 3 (as a whole) to 1; unknown ones lack.

    Parameters
    ----------
    responses
        The contestants.
    learners
        The learners of the description of a study.
    """
    grades = {learner_label(given): _grade(given["name"]) for given in learners}
    return {
        each.name: float(grade)
        for each in responses.contestants
        if (grade := grades.get(each.learner)) is not None
    }


def preferred(
    responses: Responses,
    simplicity: Simplicity | None,
    costs: Mapping[str, Mapping[str, float]],
) -> Preference:
    """Return the scores with the contestants in the order of simplicity; baselines stay first.

    Parameters
    ----------
    responses
        The scores.
    simplicity
        A cost, or several with their weights; None for the order of the study.
    costs
        Further costs by name: a number for each contestant, of which less is better, and their
        interpretability.

    Notes
    -----
    Costs of different kinds are made comparable by ranks, whose weighted sum decides (Alpaydin
    19.1: priorities are those of the application). Ties keep the order of the study.
    """
    if simplicity is None:
        return Preference(responses, STUDY_ORDER)
    weights = {simplicity: 1.0} if isinstance(simplicity, str) else dict(simplicity)
    known = [*CRITERIA, *(name for name in costs if name not in CRITERIA)]
    for name in weights:
        if name not in known:
            raise unknown_name("criterion of simplicity", name, known)
    means = responses.runs.groupby("contestant", observed=True)[COSTS].mean()
    means = means.reindex(responses.names)
    total = pd.Series(0.0, index=means.index)
    for name, weight in weights.items():
        values = means[name] if name in means else pd.Series(costs[name]).reindex(means.index)
        # Of grades, more is better; who has none is taken for the worst.
        ranks = values.rank(ascending=name != INTERPRETABILITY, na_option="bottom")
        total += weight * ranks
    order = {name: place for place, name in enumerate(total.sort_values(kind="stable").index)}
    contestants = sorted(responses.contestants, key=lambda c: (not c.baseline, order[c.name]))
    words = [CRITERIA.get(name, f"less {name.replace('_', ' ')}") for name in weights]
    return Preference(replace(responses, contestants=tuple(contestants)), ", ".join(words))


def grade_words(grade: float) -> str:
    """Return a grade of interpretability with what it means."""
    return "unknown" if grade != grade else f"{grade:.0f}: {GRADES[int(grade)]}"


def _grade(name: Any) -> int | None:
    if isinstance(name, str):
        return entry(name).interpretability
    path, parameters = str(name["class"]), name.get("parameters", {})
    if path.rpartition(".")[2] == "Pipeline" and parameters.get("steps"):
        # What a pipeline learns is in its last step.
        last = parameters["steps"][-1][-1]
        return _grade(last) if isinstance(last, Mapping) and "class" in last else None
    return grade_of(path)
