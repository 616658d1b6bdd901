"""Tasks beyond prediction: what their data, contestants and measures are, and what fits them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verulam.base import DataError, UnknownNameError, nearest_names, unknown_name
from verulam.catalogue import agent_entries, entry
from verulam.experiment._tasks.environments import EnvironmentChoice

if TYPE_CHECKING:
    from verulam.experiment._study.study import Study

CONTROL, DENSITY, CLUSTERING = "control", "density", "clustering"


@dataclass(frozen=True)
class Task:
    """What a study of some task is made of.

    Attributes
    ----------
    name
        What measures and stores call it.
    measure
        What decides where nobody says.
    resampling
        How splits are drawn where nobody says.
    kinds
        The kinds of resampling that make sense.
    data_word, contestant_word
        What is meant by a data set and by a learner.
    learners
        Who is compared where nobody is named, and the factors that are varied of each; which
        agents depends on the environment.
    learners_of_categories
        The same where at least half of the columns are categories.
    unused
        Parts of a study that have no place in it, and why.
    """

    name: str
    measure: str
    resampling: str
    kinds: tuple[str, ...]
    data_word: str = "data set"
    contestant_word: str = "learner"
    learners: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    learners_of_categories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unused: Mapping[str, str] = field(default_factory=dict)


_OF_ROWS = ("k-fold", "5x2", "leave-one-out", "holdout", "out-of-bag", "disjoint")
_OF_MODELS = {
    "tuning": "settings are judged by predictions, of which there are none; vary them as factors",
    "losses": "nothing is decided",
    "reject_cost": "nothing is decided",
    "nuisance": "rows have no errors that a column could explain",
}

#: Every task whose contestants do not predict a target, by name.
TASKS = {
    CONTROL: Task(
        CONTROL,
        "mean_return",
        "20-100 seeds",
        ("seeds",),
        data_word="environment",
        contestant_word="agent",
        unused={
            "tuning": "settings of agents are compared as factors",
            "losses": "rewards say what actions cost",
            "reject_cost": "rewards say what actions cost",
            "nuisance": "an environment has no columns",
            "preparations": "an environment has no columns",
            "test_share": "an environment has no rows to lock away",
            "replications": "each seed is a run of its own; ask for more seeds",
        },
    ),
    DENSITY: Task(
        DENSITY,
        "log_likelihood",
        "2x10-fold",
        _OF_ROWS,
        learners={
            "parametric.GaussianDensity": {},
            "cluster.GaussianMixture": {"n_components": [2, 3, 5]},
            "nonparametric.KernelDensity": {},
        },
        learners_of_categories={
            "graphical.BayesianNetworkDensity": {"structure": ["independent", "tree", "search"]},
        },
        unused={
            **_OF_MODELS,
            "preparations": "densities of columns in other units cannot be compared",
        },
    ),
    CLUSTERING: Task(
        CLUSTERING,
        "silhouette",
        "5x2",
        _OF_ROWS,
        learners={
            "cluster.KMeans": {"n_clusters": [2, 3, 4, 5]},
            "cluster.KMedoids": {"n_clusters": [2, 3, 4, 5]},
            "cluster.AgglomerativeClustering": {"n_clusters": [2, 3, 4, 5]},
            "cluster.GaussianMixture": {"n_components": [2, 3, 4, 5]},
        },
        unused=_OF_MODELS,
    ),
}


#: Those that are asked of a table.
TABLE_TASKS = tuple(name for name in TASKS if name != CONTROL)


def task_of(study: "Study") -> Task | None:
    """Return the task of a study; None where a target is predicted, class or number.

    Parameters
    ----------
    study
        The study.
    """
    if any(isinstance(choice, EnvironmentChoice) for choice in study.data):
        return TASKS[CONTROL]
    return TASKS.get(str(study.task))


def check_task(study: "Study", kind: str) -> None:
    """Raise where the parts of a study do not fit its task.

    Parameters
    ----------
    study
        The study.
    kind
        Of its resampling.
    """
    worlds = [isinstance(choice, EnvironmentChoice) for choice in study.data]
    if any(worlds) != all(worlds):
        raise DataError("data: environments and tables cannot be compared in one study.")
    if any(worlds) and study.task not in (None, CONTROL):
        raise DataError(f"task: {study.task!r} is for tables; leave it out for environments.")
    if study.task is not None and not any(worlds) and study.task not in TABLE_TASKS:
        if study.task == CONTROL:
            raise DataError("task: 'control' needs environments instead of data.")
        raise unknown_name("task", str(study.task), TABLE_TASKS)
    task = task_of(study)
    for place, choice in enumerate(study.learners):
        if _is_agent(choice.learner) != any(worlds):
            place_name = f"{'agents' if any(worlds) else 'learners'}[{place}]"
            words = "an agent, and needs environments"
            if any(worlds):
                near = nearest_names(str(choice.learner), [agent.name for agent in agent_entries()])
                words = f"no agent; nearest: {', '.join(near)}"
            raise DataError(f"{place_name}: {_name(choice.learner)} is {words}.")
    if task is None:
        if kind == "seeds":
            raise DataError("resampling: seeds are for environments; take k-fold for tables.")
        return
    if kind not in task.kinds:
        raise DataError(
            f"resampling: {kind} makes no sense for {task.name}; take {task.resampling!r}."
        )
    _check_unused(study, task)


def _is_agent(learner: Any) -> bool:
    """Return whether something is an agent, or the name of one."""
    if isinstance(learner, str):
        try:
            return entry(learner).task == "control"
        except UnknownNameError:
            return False
    # By name, so that a study of tables need not import agents to know that it has none.
    return any(
        (base.__module__, base.__name__) == ("verulam.reinforcement", "Agent")
        for base in type(learner).__mro__
    )


def _check_unused(study: "Study", task: Task) -> None:
    """Raise where a study has a part that its task has no use for."""
    usual: dict[str, Any] = {"preparations": ("as needed",), "test_share": 0.0, "replications": 1}
    for key, reason in task.unused.items():
        value = getattr(study, key)
        same = tuple(value) if key == "preparations" else value
        if same != usual.get(key) and value not in (None, (), []):
            raise DataError(f"{key}: has no place in a study of {task.name}, where {reason}.")
    for place, choice in enumerate(study.learners):
        if choice.decision is not None:
            raise DataError(f"learners[{place}].decision: is for learners that predict classes.")


def _name(learner: Any) -> str:
    return repr(learner) if isinstance(learner, str) else type(learner).__name__
