"""How simple contestants are: by the kind of model, or by a cost that somebody names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.base import unknown_name
from verulam.catalogue import complexity_of, entry, grade_of
from verulam.experiment._evidence.tables import COSTS
from verulam.experiment._study.analysis_options import CRITERIA, INTERPRETABILITY, Simplicity
from verulam.experiment._study.choices import learner_label

if TYPE_CHECKING:
    from verulam.experiment._store.responses import Responses

BY_KIND = (
    "a simpler kind of model: a baseline, then linear models, trees, neighbours and kernels, and "
    "last ensembles and networks"
)
BY_KIND_OF_AGENT = (
    "a simpler kind of agent: one that learns nothing, then tables, models of the environment, and "
    "last functions of its states"
)
#: Grade of a learner that the catalogue does not know: nobody has said that it is simple.
UNKNOWN_COMPLEXITY = 4
#: Parameters in which one learner may hold another that it tunes, calibrates or prepares for.
_INNER = ("estimator", "base_estimator", "learner", "regressor", "classifier", "trainer")


@dataclass(frozen=True)
class Complexities:
    """How complex each contestant is.

    Attributes
    ----------
    values
        A number for each contestant; less is simpler.
    words
        What being simple means.
    """

    values: Mapping[str, float]
    words: str


def interpretability_grades(
    responses: "Responses", learners: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Return how well each contestant can be read, from 3 (as a whole) to 1; unknown ones lack.

    Parameters
    ----------
    responses
        The contestants.
    learners
        The learners of the description of a study.
    """
    grades = {learner_label(learner): _grade(learner["name"]) for learner in learners}
    return {
        contestant.name: float(grade)
        for contestant in responses.contestants
        if (grade := grades.get(contestant.learner)) is not None
    }


def complexities(
    responses: "Responses",
    learners: Sequence[Mapping[str, Any]],
    simplicity: Simplicity | None = None,
    costs: Mapping[str, Mapping[str, float]] | None = None,
) -> Complexities:
    """Return how complex each contestant is.

    Parameters
    ----------
    responses
        The scores.
    learners
        The learners of the description of a study.
    simplicity
        A cost, or several with their weights; None for the grades of the catalogue.
    costs
        Further costs by name: a number for each contestant, of which less is better.

    Notes
    -----
    The grade is that of the kind of model, from 0 for a baseline to 4 for ensembles and networks;
    all settings of a learner have one grade, and a learner that is tuned, calibrated or prepared
    for has that of the learner itself. Costs of different kinds are made comparable by ranks, whose
    weighted sum decides (Alpaydin 19.1: priorities are those of the application).
    """
    if simplicity is None:
        acting = responses.measure.task == "control"
        return Complexities(_kinds(responses, learners), BY_KIND_OF_AGENT if acting else BY_KIND)
    further = {INTERPRETABILITY: interpretability_grades(responses, learners), **(costs or {})}
    weights = {simplicity: 1.0} if isinstance(simplicity, str) else dict(simplicity)
    known = [*CRITERIA, *(name for name in further if name not in CRITERIA)]
    for name in weights:
        if name not in known:
            raise unknown_name("criterion of simplicity", name, known)
    means = responses.runs.groupby("contestant", observed=True)[COSTS].mean()
    means = means.reindex(responses.names)
    total = pd.Series(0.0, index=means.index)
    for name, weight in weights.items():
        values = means[name] if name in means else pd.Series(further[name]).reindex(means.index)
        # Of grades, more is better; who has none is taken for the worst.
        ranks = values.rank(ascending=name != INTERPRETABILITY, na_option="bottom")
        # Ranks, since seconds and bytes cannot be added up.
        total += weight * ranks
    words = [CRITERIA.get(name, f"less {name.replace('_', ' ')}") for name in weights]
    return Complexities({str(name): float(total[name]) for name in total.index}, ", ".join(words))


def _kinds(responses: "Responses", learners: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    grades = {learner_label(learner): _complexity(learner["name"]) for learner in learners}
    return {
        contestant.name: 0.0
        if contestant.baseline
        else float(grades.get(contestant.learner, UNKNOWN_COMPLEXITY))
        for contestant in responses.contestants
    }


def _complexity(described: Any) -> int:
    """Return the grade of a learner that is described by its name, or by class and parameters."""
    if isinstance(described, str):
        return entry(described).complexity
    inner = _inner(described)
    if inner is not None:
        return _complexity(inner)
    grade = complexity_of(str(described["class"]), described.get("parameters"))
    return UNKNOWN_COMPLEXITY if grade is None else grade


def _grade(described: Any) -> int | None:
    if isinstance(described, str):
        return entry(described).interpretability
    inner = _inner(described)
    if inner is not None:
        return _grade(inner)
    # What a pipeline learns is in its last step, of which nothing is known.
    if _is_pipeline(described):
        return None
    return grade_of(str(described["class"]))


def _is_pipeline(described: Mapping[str, Any]) -> bool:
    return str(described["class"]).rpartition(".")[2] == "Pipeline"


def _inner(described: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the learner within a pipeline or around which another is wrapped."""
    parameters = described.get("parameters", {})
    if _is_pipeline(described) and parameters.get("steps"):
        last = parameters["steps"][-1][-1]
        return last if isinstance(last, Mapping) and "class" in last else None
    for name in _INNER:
        inner = parameters.get(name)
        # An ensemble is more than the learners that it is made of.
        if isinstance(inner, Mapping) and "class" in inner and not _combines(described):
            return inner
    return None


def _combines(described: Mapping[str, Any]) -> bool:
    return ".ensemble." in str(described["class"])
