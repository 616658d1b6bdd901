"""A study: what is asked, of which learners, on which data, measured how."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import pandas as pd

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.data import Dataset
from verulam.experiment._identity import describe
from verulam.experiment._preparation.preparation import PREPARATIONS, is_preparation
from verulam.experiment._preparation.reductions import REDUCTIONS
from verulam.experiment._resampling.resampling import Resampling, resampling
from verulam.experiment._study.analysis_options import AnalysisOptions, analysis_options
from verulam.experiment._study.budget import Budget, budget
from verulam.experiment._study.choices import (
    DataChoice,
    LearnerChoice,
    data_choices,
    learner_choices,
)
from verulam.experiment._study.cost_matrix import Losses, check_losses, read_losses, study_measure
from verulam.experiment._study.designs import FULL, SEQUENTIAL, Design, read_design
from verulam.experiment._study.factors import check_study_factors, plain_factors
from verulam.experiment._study.notebook import study_html
from verulam.experiment._tasks.environments import EnvironmentChoice
from verulam.experiment._tasks.tasks import check_task, task_of
from verulam.experiment._text import counted, in_task_words
from verulam.experiment._tuning.options import Tuning, tuning
from verulam.experiment._tuning.space import search_space
from verulam.measures import Measure, as_measure, measures

#: What a study may be for, and how it is said.
AIMS = {
    "assess": "Is each learner good enough?",
    "compare": "Which of two learners is better?",
    "choose": "Which learner is best?",
    "order": "In which order of quality do the learners stand?",
}

#: How splits are drawn where nobody says.
USUAL_RESAMPLING = "10-fold"
#: Costs that may be part of a response, and the column of the results that has each.
COST_RESPONSES = {
    "fit time": "fit_seconds",
    "predict time": "predict_seconds",
    "memory": "peak_memory",
    "model size": "model_size",
}


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """A question and the experiment that is to answer it.

    Attributes
    ----------
    name
        What the study is called.
    data
        The data sets: a `DataChoice` for each, or just what its `source` may be. For agents, an
        `EnvironmentChoice` for each environment.
    learners
        The learners, in any order: a `LearnerChoice` for each, a name in the catalogue, an
        estimator, a pair of a label and either, or a mapping of labels to them.
    aim
        "assess", "compare", "choose" or "order".
    question
        The question in your own words, for the report.
    measures
        Responses; the first one decides. None takes those of the response, and without one the
        error of classes, or the root mean squared error of numbers.
    response
        What is judged together, where one number does not tell all: measures, "fit time",
        "predict time", "memory" and "model size". Empty for the first measure alone.
    resampling
        How training and validation parts are drawn, such as "10-fold", "5x2" or "holdout".
    design
        Which settings of its factors each learner is run with: "full factorial", "best guess",
        "one at a time", "fractional", "central composite", "box-behnken", "sequential", a
        `Design`, or a mapping with its attributes. None is the full factorial.
    preparations
        How tables are prepared, a factor that is varied for all learners: any of "as needed",
        "unscaled", "standardised", "unit range", "ranks", "principal components", "factor
        analysis", "discriminants" and "feature selection", the last four perhaps with a number
        of columns behind, such as "principal components 5".
    nuisance
        Sources of variation that are not controlled. A column of a data set is kept from the
        learners, and the analysis tests whether the response or the comparison depends on it;
        anything else is words for the record.
    replications
        Runs of a learner on each split, with seeds of their own; where chance has no part in a
        learner, they are one run.
    training_shares
        Parts of the training rows to learn from; several give learning curves.
    test_share
        Part of each data set that is locked away until the study is finalised; 0 for none.
    seed
        Seed of splits, order and learners.
    tuning
        How learners are tuned within the training rows of each run, a `Tuning` or a mapping
        with `method`, `budget`, `folds` and `measure`; None for no tuning.
    budget
        What the study may spend, a `Budget` or a mapping with `runs`, `seconds`, ...; None for
        no limit. A study that is stopped by it goes on where it has been raised.
    time_limit
        Seconds after which a run is stopped; None for no limit.
    memory_limit
        Megabytes that a run may add to its process; None for no limit.
    analysis
        How it is to be analysed, `AnalysisOptions` or a mapping with some of its attributes; None
        for the usual way.
    losses
        What decisions cost, for the measure "risk" and the model that the study ends in: a row
        per decision with one loss per class, ``{decision: {class: loss}}``, a DataFrame, or a CSV
        file. None counts every mistake as 1.
    reject_cost
        What it costs to withhold a decision; None decides always.
    task
        "density" compares densities by the log-likelihood of held-out rows, "clustering"
        clusterings by silhouette and stability; None predicts the target of each data set, or
        where there are environments lets agents act in them.

    Examples
    --------
    >>> study = Study("flowers", ["iris"], ["majority class", "naive bayes"])
    >>> study.aim, study.resampling, study.test_share
    ('choose', '10-fold', 0.0)
    """

    name: str
    data: Sequence[Any]
    learners: Sequence[Any]
    aim: str = "choose"
    question: str = ""
    measures: Sequence[str | Measure] | None = None
    response: Sequence[str | Measure] = ()
    resampling: str | Mapping[str, Any] | Resampling = USUAL_RESAMPLING
    design: str | Mapping[str, Any] | Design | None = None
    preparations: Sequence[str] = ("as needed",)
    nuisance: Sequence[str] = ()
    replications: int = 1
    training_shares: Sequence[float] = (1.0,)
    test_share: float = 0.0
    seed: int = 0
    tuning: Tuning | Mapping[str, Any] | None = None
    budget: Budget | Mapping[str, Any] | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    analysis: AnalysisOptions | Mapping[str, Any] | None = None
    losses: Losses | None = None
    reject_cost: float | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        if self.aim not in AIMS:
            raise DataError(f"aim: {self.aim!r}; expected one of {', '.join(AIMS)}.")
        self._read_parts()
        for key in ("data", "learners", "training_shares"):
            if not getattr(self, key):
                raise DataError(f"{key}: at least one is needed.")
        if not 0.0 <= self.test_share < 1.0:
            raise DataError(
                f"test_share: {self.test_share!r}; expected a number from 0 to below 1."
            )
        for share in self.training_shares:
            if not 0.0 < share <= 1.0:
                raise DataError(f"training_shares: {share!r}; expected numbers above 0, up to 1.")
        for key in ("time_limit", "memory_limit"):
            limit = getattr(self, key)
            if limit is not None and limit <= 0:
                raise DataError(f"{key}: {limit!r}; expected a number above 0, or none at all.")
        self._check_factors()
        self._check_measures()
        self._settle_task()
        for number, choice in enumerate(self.learners):
            _check_tune(choice, f"learners[{number}]", tuned=self.tuning is not None)
            learner_settings(self, choice)
            if len(self.data) > 1 and learner_design(self, choice).kind == SEQUENTIAL:
                raise DataError(
                    "design: a sequential design looks for the best setting on one data set, and "
                    f"the study has {len(self.data)}; responses on several cannot be averaged."
                )

    def _read_parts(self) -> None:
        """Put records in the place of names and tables, as a study file has them."""
        readers: dict[str, Callable[[Any], Any]] = {
            "data": data_choices,
            "learners": learner_choices,
            "losses": read_losses,
            "tuning": tuning,
            "budget": budget,
            "analysis": analysis_options,
        }
        for part, read in readers.items():
            if getattr(self, part) is not None:
                object.__setattr__(self, part, read(getattr(self, part)))
        check_losses(self.losses, self.reject_cost)

    def _settle_task(self) -> None:
        """Name the task that the data imply, with the resampling that it takes by itself."""
        if self.task is None and any(isinstance(c, EnvironmentChoice) for c in self.data):
            object.__setattr__(self, "task", "control")
        task = task_of(self)
        if task is not None and self.resampling == USUAL_RESAMPLING:
            object.__setattr__(self, "resampling", task.resampling)
        check_task(self, resampling(self.resampling).kind)

    def _check_factors(self) -> None:
        for how in self.preparations or ("",):
            if not is_preparation(how):
                known = ", ".join([*PREPARATIONS, *REDUCTIONS])
                raise DataError(f"preparations: {how!r}; expected some of {known}.")
        for key, least in (("replications", 1), ("seed", 0)):
            count = getattr(self, key)
            if isinstance(count, bool) or not isinstance(count, Integral) or count < least:
                raise DataError(f"{key}: {count!r}; expected a whole number of at least {least}.")
        for number, choice in enumerate(self.learners):
            for name in choice.factors:
                if name in choice.parameters:
                    where = f"learners[{number}].parameters.{name}"
                    raise DataError(f"{where}: is a factor already; it cannot be both.")

    def _check_measures(self) -> None:
        parts = (self.response,) if isinstance(self.response, str | Measure) else self.response
        object.__setattr__(self, "response", tuple(parts))
        for key in ("measures", "response"):
            for measure in getattr(self, key) or ():
                _check_measure(measure, key)
            self._bind_risk(key)
        names = [response_name(part) for part in self.response]
        for name in names:
            if names.count(name) > 1:
                raise DataError(f"response: {name!r} is there twice.")
        measured = {as_measure(measure).name: measure for measure in self.measures or ()}
        for name, part in zip(names, self.response, strict=True):
            if name not in COST_RESPONSES:
                measured.setdefault(name, part)
        object.__setattr__(self, "measures", tuple(measured.values()) or None)

    def _bind_risk(self, key: str) -> None:
        """Let the plain risk be that of the study's own losses."""
        measures = getattr(self, key)
        bound = [
            study_measure(measure, self.losses, self.reject_cost, key)
            if _is_risk(measure)
            else measure
            for measure in measures or ()
        ]
        object.__setattr__(self, key, tuple(bound) if measures is not None else None)

    def __repr__(self) -> str:
        parts = [counted(len(self.data), "data set"), counted(len(self.learners), "learner")]
        return f"<Study {self.name!r}: {', '.join(parts)}, {resampling(self.resampling)}>"

    def _repr_html_(self) -> str:
        return study_html(self, resampling(self.resampling).title)

    def to_json(self) -> str:
        """Return the study as text, for the record; tables are named, not included."""
        data = [_described_data(choice) for choice in self.data]
        learners = [_described_learner(choice) for choice in self.learners]
        return json.dumps(
            {
                "name": self.name,
                "aim": self.aim,
                "question": self.question,
                "measures": [as_measure(measure).name for measure in self.measures or ()],
                "response": [response_name(part) for part in self.response],
                "resampling": str(resampling(self.resampling)),
                **_described_design(self.design),
                "preparations": list(self.preparations),
                "nuisance": list(self.nuisance),
                "replications": self.replications,
                "training_shares": list(self.training_shares),
                "test_share": self.test_share,
                "seed": self.seed,
                "tuning": self.tuning.to_dict() if isinstance(self.tuning, Tuning) else None,
                "budget": self.budget.to_dict() if isinstance(self.budget, Budget) else None,
                "time_limit": self.time_limit,
                "memory_limit": self.memory_limit,
                **(
                    {"analysis": analysis_options(self.analysis).to_dict()} if self.analysis else {}
                ),
                "losses": describe(self.losses),
                "reject_cost": self.reject_cost,
                **({} if self.task is None else {"task": self.task}),
                "data": data,
                "learners": learners,
            },
            ensure_ascii=False,
        )


def aim_question(description: Mapping[str, Any]) -> str:
    """Return the question of a study: in its own words, or as its aim has it.

    Parameters
    ----------
    description
        The study, as its store has it.
    """
    plain = AIMS[description["aim"]]
    return description["question"] or in_task_words(plain, description.get("task"))


def response_name(part: str | Measure) -> str:
    """Return what a part of a response is called; raise where it is neither measure nor cost."""
    if isinstance(part, str) and part in COST_RESPONSES:
        return part
    return as_measure(part).name


def learner_design(study: Study, choice: LearnerChoice) -> Design:
    """Return how the factors of a learner are laid out: as it says itself, or as the study does.

    Parameters
    ----------
    study
        The study.
    choice
        One of its learners.
    """
    return read_design(*_design_and_key(study, choice))


def sequential_learners(study: Study) -> list[int]:
    """Return the positions of the learners whose settings follow from earlier responses.

    Parameters
    ----------
    study
        The study.
    """
    return [
        place
        for place, choice in enumerate(study.learners)
        if choice.factors and learner_design(study, choice).kind == SEQUENTIAL
    ]


def learner_settings(study: Study, choice: LearnerChoice) -> list[dict[str, Any]]:
    """Return the settings of its factors that a learner is run with.

    Parameters
    ----------
    study
        What says how they are laid out, where the learner does not.
    choice
        One of the learners of the study.
    """
    where = f"learners[{list(study.learners).index(choice)}]"
    layout, key = _design_and_key(study, choice)
    design = read_design(layout, key)
    if choice.design is not None and design.kind != FULL and not choice.factors:
        raise DataError(f"{key}: has no factors to lay out; add {where}.factors.")
    if not choice.factors:
        return [{}]
    factors = plain_factors(choice.factors, f"{where}.factors")
    settings = design.settings_for(factors, key=key, where=f"{where}.factors")
    check_study_factors(settings, f"{where}.factors")
    return settings


def learner_blocks(study: Study, choice: LearnerChoice) -> list[int]:
    """Return the block of each setting of a learner, in their order; nothing without blocks.

    Parameters
    ----------
    study
        The study.
    choice
        One of its learners.
    """
    if not choice.factors:
        return []
    where = f"learners[{list(study.learners).index(choice)}].factors"
    layout, key = _design_and_key(study, choice)
    factors = plain_factors(choice.factors, where)
    return read_design(layout, key).blocks_for(factors, key=key, where=where)


def _design_and_key(study: Study, choice: LearnerChoice) -> tuple[Any, str]:
    """Return the design of a learner as the study has it, and the key that has it."""
    if choice.design is None:
        return study.design, "design"
    return choice.design, f"learners[{list(study.learners).index(choice)}].design"


def _check_measure(measure: Any, key: str) -> None:
    """Raise where a key of a study has what is no measure, nor a cost that it may be."""
    costs = list(COST_RESPONSES) if key == "response" else []
    if isinstance(measure, str) and measure in costs:
        return
    try:
        as_measure(measure)
    except UnknownNameError:
        error = unknown_name("measure", measure, [*costs, *measures().index])
        raise UnknownNameError(f"{key}: {error}") from None
    except TypeError as error:
        raise DataError(f"{key}: {error}") from None


def _is_risk(measure: Any) -> bool:
    return measure not in COST_RESPONSES and as_measure(measure).name == "risk"


def _described_data(choice: DataChoice | EnvironmentChoice) -> dict[str, Any]:
    if isinstance(choice, EnvironmentChoice):
        return choice.described()
    source = choice.source
    if isinstance(source, Dataset):
        source = source.name
    if isinstance(source, pd.DataFrame):
        source = "a DataFrame"
    target = list(choice.outputs) or choice.target
    described = {"source": str(source), "target": target, "label": choice.label}
    dropped = {"drop_missing_target": True} if choice.drop_missing_target else {}
    left_out = {"leave_out": list(choice.leave_out)} if choice.leave_out else {}
    rare = {"rare": choice.rare} if choice.rare != "keep" else {}
    groups = {"groups": choice.groups} if choice.groups else {}
    keep = {"keep": list(choice.keep)} if choice.keep else {}
    codes = {"categorical": list(choice.categorical)} if choice.categorical else {}
    weights = {"weights": choice.weights} if choice.weights else {}
    return described | groups | dropped | left_out | rare | keep | codes | weights


def _described_learner(choice: LearnerChoice) -> dict[str, Any]:
    return {
        "name": describe(choice.learner),
        "label": choice.label,
        "parameters": describe(choice.parameters),
        "factors": describe(choice.factors),
        **_described_design(choice.design),
        **({} if choice.decision is None else {"decision": choice.decision}),
        "tune": describe(choice.tune),
    }


def _described_design(design: Any) -> dict[str, Any]:
    """Return what goes into a description: nothing without a design, or keys would change."""
    return {} if design is None else {"design": describe(read_design(design).to_dict())}


def _check_tune(choice: LearnerChoice, where: str, *, tuned: bool) -> None:
    if not isinstance(choice.tune, Mapping):
        if choice.tune is True:
            raise DataError(f"{where}.tune: True; name the parameters, or leave it out.")
        return
    if not tuned:
        raise DataError(f"{where}.tune: needs a table [tuning], which says how.")
    for name in choice.tune:
        if name in choice.factors:
            raise DataError(f"{where}.tune.{name}: is a factor already; it cannot be both.")
    search_space(choice.tune, f"{where}.tune")
