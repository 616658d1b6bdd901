"""Who is tuned in a study, and of what: the same budget for all, spaces of their own."""

from collections.abc import Mapping
from typing import Any

from verulam.base import DataError, UnknownNameError
from verulam.data import Dataset
from verulam.experiment._design.factors import Factor
from verulam.experiment._study.choices import LearnerChoice
from verulam.experiment._study.cost_matrix import study_measure
from verulam.experiment._study.study import Study
from verulam.experiment._tuning.learner import TunedLearner
from verulam.experiment._tuning.options import tuning
from verulam.experiment._tuning.search import smallest_budget
from verulam.experiment._tuning.space import default_space, search_space
from verulam.measures import Measure, measure


def with_tuning(
    study: Study, choice: LearnerChoice, data: Dataset, learner: Any, ready: Any
) -> tuple[Any, tuple[str, ...]]:
    """Return a learner that tunes itself as the study asks, and the parameters it tunes.

    Parameters
    ----------
    study
        What says how.
    choice
        The learner as the study has it.
    data
        The data set, whose task the measure has to be for.
    learner
        The learner by itself, whose parameters are tuned.
    ready
        The learner behind its preparation, or itself.
    """
    how = tuning(study.tuning)
    space = () if how is None else _space(choice, learner)
    if how is None or not space:
        return ready, ()
    tuned = TunedLearner(
        ready,
        space,
        method=how.method,
        budget=how.budget,
        folds=how.folds,
        measure=_measure(study, how.measure, str(data.task)),
        prefix="" if ready is learner else f"{ready.steps[-1][0]}__",
        split_seed=study.seed,
    )
    return tuned, tuple(factor.name for factor in space)


def check_tuning_budget(study: Study, learners: Mapping[str, Any]) -> None:
    """Refuse a budget that is too small for the search of some learner, before anything is run.

    Parameters
    ----------
    study
        What says how.
    learners
        By label; those that are not tuned need nothing.
    """
    how = tuning(study.tuning)
    if how is None:
        return
    needed = {
        label: smallest_budget(how.method, each.space)
        for label, each in learners.items()
        if isinstance(each, TunedLearner)
    }
    short = [label for label, least in needed.items() if least > how.budget]
    if short:
        raise DataError(
            f"tuning.budget: {how.budget}; tuning.method {how.method!r} needs at least "
            f"{max(needed.values())} settings for {', '.join(short)}. Raise the budget to that, or "
            "search at random."
        )


def _space(choice: LearnerChoice, learner: Any) -> tuple[Factor, ...]:
    if choice.tune is False:
        return ()
    if not isinstance(choice.tune, Mapping):
        given = {**choice.parameters, **choice.factors}
        return tuple(each for each in default_space(choice.learner) if each.name not in given)
    space = search_space(choice.tune)
    accepted = learner.get_params()
    for factor in space:
        if factor.name not in accepted:
            raise DataError(
                f"tune: learner {choice.label or type(learner).__name__!r} has no parameter "
                f"{factor.name!r}; it has {', '.join(sorted(accepted))}."
            )
    return space


def _measure(study: Study, given: str | Measure | None, task: str) -> str | Measure | None:
    """Return what settings are judged by; a name where there is one, which identifies runs."""
    wanted = [] if given is None else [given]
    for each in [*wanted, *(study.measures or ())]:
        found = study_measure(each, study.losses, study.reject_cost, "tuning.measure")
        if found.task == task:
            return found.name if _is_known(found) else found
    return None


def _is_known(found: Measure) -> bool:
    try:
        return measure(found.name) == found
    except UnknownNameError:
        return False
