"""From a study to a plan: contestants, tuned where the study asks, and a table of runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from verulam.base import (
    DataError,
    UnknownNameError,
    abilities,
    check_parameters,
    clone,
    generator,
)
from verulam.catalogue import entry
from verulam.data import Dataset
from verulam.design import Factor
from verulam.experiment._identity import (
    describe,
    digest,
    digest_bytes,
    seed_of,
    unseeded_parameters,
)
from verulam.experiment._learning.decisions import decided
from verulam.experiment._learning.fitting import takes_weights
from verulam.experiment._learning.intervals import gives_intervals
from verulam.experiment._learning.outputs import with_outputs
from verulam.experiment._plan.data import PlannedData, planned_data
from verulam.experiment._plan.records import Contestant, Plan, PlannedRun
from verulam.experiment._preparation.preparation import Prepared, prepared
from verulam.experiment._study.choices import LearnerChoice
from verulam.experiment._study.cost_matrix import losses_on, study_measure, unsuited_data
from verulam.experiment._study.factors import (
    DATA_SET,
    PREPARATION,
    SettingParts,
    check_data_sets,
    scaled_parameters,
    setting_parts,
)
from verulam.experiment._study.study import Study, learner_blocks, learner_settings
from verulam.experiment._tasks.environments import misfit
from verulam.experiment._tasks.tasks import CLUSTERING, CONTROL, DENSITY
from verulam.experiment._text import setting_text
from verulam.experiment._tuning.learner import TunedLearner
from verulam.experiment._tuning.options import tuning
from verulam.experiment._tuning.search import smallest_budget
from verulam.experiment._tuning.space import default_space, search_space
from verulam.measures import Measure, as_measure, measure

ACTS = "none: agents act in the environment"


def make_plan(study: Study, *, part: bool = False) -> Plan:
    """Draw the splits of a study and lay out its runs.

    Parameters
    ----------
    study
        What is to be found out.
    part
        Whether it is a part of a larger study, whose other data sets its designs may name.

    Examples
    --------
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> plan = make_plan(Study("flowers", [DataChoice("iris")], learners, resampling="5-fold"))
    >>> print(plan)
    flowers: 10 runs = 2 settings of learners x 1 data set (iris) x 5 splits, 5-fold, seed 0
    """
    data = tuple(planned_data(study, choice) for choice in study.data)
    labels = [planned.label for planned in data]
    _refuse_repeats("data", labels)
    unsuited_data(study, data)
    for place, choice in enumerate(() if part else study.learners):
        key = f"learners[{place}].factors.{DATA_SET}"
        check_data_sets(learner_settings(study, choice), labels, key)
    contestants = tuple(
        tuple(
            contestant
            for choice in study.learners
            for contestant in _contestants(study, choice, planned)
        )
        for planned in data
    )
    for rivals in contestants:
        _check_tuning_budget(study, {rival.label: rival.estimator for rival in rivals})
        names = [f"{rival.label} {setting_text(rival.setting)}".strip() for rival in rivals]
        _refuse_repeats("learners", names)
    runs = [
        run
        for place, rivals in enumerate(contestants)
        for run in _planned_runs(study, data[place], place, rivals)
    ]
    order = _run_order(study, [contestants[run.data][run.contestant].block for run in runs])
    return Plan(study, data, contestants, tuple(runs[position] for position in order))


def _run_order(study: Study, blocks: Sequence[int | None]) -> np.ndarray:
    """Return the runs in random order, block by block where designs have blocks."""
    # Alpaydin 19.4: what changes with time must not be mistaken for the effect of a factor.
    random = generator(study.seed)
    order = random.permutation(len(blocks))
    numbers = sorted({block for block in blocks if block is not None})
    if not numbers:
        return order
    # Runs without a block belong to any: they are spread over all of them.
    anywhere = random.choice(numbers, size=len(blocks))
    places = np.array(
        [free if block is None else block for block, free in zip(blocks, anywhere, strict=True)]
    )
    return order[np.argsort(places[order], kind="stable")]


def _contestants(study: Study, choice: LearnerChoice, planned: PlannedData) -> list[Contestant]:
    """Return a learner of the study with every setting and preparation, for one data set."""
    if planned.task == CONTROL:
        return _agent_contestants(study, choice, planned)
    scale = False
    if isinstance(choice.learner, str):
        known = entry(choice.learner)
        base, name, scale = known.make(), known.name, known.wants_scaling
    else:
        base, name = clone(choice.learner), type(choice.learner).__name__
    _check_ability(base, name, planned)
    _refuse_silent(map(as_measure, study.measures or ()), base, name)
    # Tasks that predict nothing have one scale for all, by which contestants are judged.
    scale = scale and study.task is None
    contestants = []
    settings = learner_settings(study, choice)
    blocks: Sequence[int | None] = learner_blocks(study, choice) or [None] * len(settings)
    for levels, block in zip(settings, blocks, strict=True):
        parts = setting_parts(levels)
        if parts.data not in (None, planned.label):
            continue
        for how in _preparations(study, base, parts):
            setting = {factor: level for factor, level in levels.items() if factor != DATA_SET}
            parameters = dict(choice.parameters)
            if parts.parameters:  # levels may be multiples of a scale of the prepared inputs
                transformer = prepared(base, planned.inputs, scale=scale, how=how).transformer
                parameters |= scaled_parameters(parts.parameters, planned.open_inputs, transformer)
            estimator = _with_parameters(base, parameters, name)
            ready = prepared(estimator, planned.inputs, scale=scale, how=how)
            if len(study.preparations) > 1 and not _ignores_inputs(base):
                setting[PREPARATION] = how
            if choice.decision is not None:
                ready = decided(
                    ready,
                    choice.decision,
                    planned.classes,
                    name,
                    measures=study.measures or (),
                    losses=losses_on(planned.classes.tolist(), study.losses, None),
                )
            if planned.outputs:
                ready = with_outputs(ready)
            learner, tuned = _with_tuning(study, choice, planned.data, estimator, ready)
            contestants.append(
                Contestant(
                    label=choice.label or choice.with_decision(name),
                    setting=setting,
                    estimator=learner,
                    preparation=_preparation_words(study, ready, planned, learner),
                    description=describe(learner),
                    # A learner of the catalogue knows no names but those its parameters give it.
                    uses_names=not isinstance(choice.learner, str) or bool(choice.parameters),
                    tuned=tuned,
                    share=parts.share,
                    block=block,
                )
            )
    return contestants


def _check_ability(base: Any, name: str, planned: PlannedData) -> None:
    """Raise where a learner is for another task than that of the data."""
    task = abilities(base).task
    # A mixture is a density and a clustering.
    able = {
        DENSITY: hasattr(base, "score_samples") and task in (DENSITY, CLUSTERING),
        CLUSTERING: task == CLUSTERING or (task == DENSITY and hasattr(base, "predict")),
    }
    if not able.get(planned.task, task == planned.task):
        raise DataError(
            f"Learner {name!r} is for {task}, but data set {planned.label!r} asks for "
            f"{planned.task}."
        )


def _refuse_silent(measures: Iterable[Measure], learner: Any, name: str) -> None:
    """Raise where a measure asks how sure a learner is that does not say."""
    for needed in measures:
        asks = needed.needs in ("intervals", "predictive densities")
        if asks and not gives_intervals(learner):
            raise DataError(
                f"measures: {needed.name!r} needs learners that say how sure they are, by "
                f"predict_interval or by predict with return_std, which {name!r} does not."
            )


def _preparation_words(study: Study, ready: Prepared, planned: PlannedData, learner: Any) -> str:
    """Return what is done to the columns first, in words."""
    if study.task is not None and ready.transformer is None:
        categories = planned.numbers is None
        return "categories, for all alike" if categories else "numbers scaled, for all alike"
    return ready.words + _unweighted(planned, learner)


def _unweighted(planned: PlannedData, learner: Any) -> str:
    """Return the words for a learner that cannot use the weights of rows; empty for others."""
    without = planned.weights is not None and not takes_weights(learner)
    return "; weights of rows not used" if without else ""


def _preparations(study: Study, base: Any, parts: SettingParts) -> Sequence[str]:
    """Return the preparations that a setting is run with."""
    if parts.preparation is not None:
        return (parts.preparation,)
    # A learner that ignores the inputs is the same however they are prepared.
    return ("as needed",) if _ignores_inputs(base) else study.preparations


def _ignores_inputs(base: Any) -> bool:
    return bool(get_tags(base).no_validation)


def _with_parameters(base: Any, parameters: dict[str, Any], name: str) -> Any:
    estimator = clone(base)
    accepted = estimator.get_params(deep=True)
    for parameter in parameters:
        if parameter not in accepted:
            raise DataError(
                f"Learner {name!r} has no parameter {parameter!r}; it has "
                f"{', '.join(sorted(accepted)) or 'none'}."
            )
    estimator.set_params(**parameters)
    if parameters:
        try:
            check_parameters(estimator)
        except ValueError as error:
            raise DataError(f"Learner {name!r}: {error}") from None
    return estimator


def _with_tuning(
    study: Study, choice: LearnerChoice, data: Dataset, learner: Any, ready: Prepared
) -> tuple[Any, tuple[str, ...]]:
    """Return a learner that tunes itself as the study asks, and the parameters it tunes.

    `learner` is the learner by itself, `ready` the same behind its preparation.
    """
    how = tuning(study.tuning)
    space = () if how is None else _tuned_space(choice, learner)
    if how is None or not space:
        return ready.estimator, ()
    tuned = TunedLearner(
        ready.estimator,
        space,
        method=how.method,
        budget=how.budget,
        folds=how.folds,
        measure=_tuning_measure(study, how.measure, str(data.task)),
        prefix=ready.prefix,
        split_seed=study.seed,
    )
    return tuned, tuple(factor.name for factor in space)


def _check_tuning_budget(study: Study, learners: Mapping[str, Any]) -> None:
    """Refuse a budget that is too small for the search of some learner, before anything is run."""
    how = tuning(study.tuning)
    if how is None:
        return
    needed = {
        label: smallest_budget(how.method, learner.space)
        for label, learner in learners.items()
        if isinstance(learner, TunedLearner)
    }
    short = [label for label, least in needed.items() if least > how.budget]
    if short:
        raise DataError(
            f"tuning.budget: {how.budget}; tuning.method {how.method!r} needs at least "
            f"{max(needed.values())} settings for {', '.join(short)}. Raise the budget to that, or "
            "search at random."
        )


def _tuned_space(choice: LearnerChoice, learner: Any) -> tuple[Factor, ...]:
    if choice.tune is False:
        return ()
    if not isinstance(choice.tune, Mapping):
        fixed = {**choice.parameters, **choice.factors}
        return tuple(factor for factor in default_space(choice.learner) if factor.name not in fixed)
    space = search_space(choice.tune)
    accepted = learner.get_params()
    for factor in space:
        if factor.name not in accepted:
            raise DataError(
                f"tune: learner {choice.label or type(learner).__name__!r} has no parameter "
                f"{factor.name!r}; it has {', '.join(sorted(accepted))}."
            )
    return space


def _tuning_measure(study: Study, asked: str | Measure | None, task: str) -> str | Measure | None:
    """Return what settings are judged by; a name where there is one, which identifies runs."""
    first = [] if asked is None else [asked]
    for candidate in [*first, *(study.measures or ())]:
        judge = study_measure(candidate, study.losses, study.reject_cost, "tuning.measure")
        if judge.task == task:
            return judge.name if _is_registered(judge) else judge
    return None


def _is_registered(judge: Measure) -> bool:
    try:
        return measure(judge.name) == judge
    except UnknownNameError:
        return False


def _planned_runs(
    study: Study, planned: PlannedData, place: int, contestants: Sequence[Contestant]
) -> Iterator[PlannedRun]:
    """Yield every run on one data set."""
    splits = [
        (split, digest_bytes(split.train.tobytes()), digest_bytes(split.test.tobytes()))
        for split in planned.splits
    ]
    for position, contestant in enumerate(contestants):
        # Hashed once for a contestant: runs differ in split, share and seed alone.
        learner = digest(contestant.description)
        seeds = [
            [study.seed, replication] if replication else [study.seed]
            for replication in range(study.replications)
        ]
        # Without chance, replications are one run: they get one identity, and are carried out once.
        if not unseeded_parameters(contestant.estimator):
            seeds = [[study.seed]] * study.replications
        for split, train, test in splits:
            shares = study.training_shares if contestant.share is None else (contestant.share,)
            for share, seed_parts in product(shares, seeds):
                run_id = digest([planned.key, learner, train, test, share, *seed_parts])
                seed = seed_of(run_id, study.seed)
                if planned.task == CONTROL:
                    seed = _block_seed(study, planned.key, int(split.test[0]))
                yield PlannedRun(run_id, place, position, split, share, seed)


def _refuse_repeats(key: str, labels: Sequence[str]) -> None:
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        also = "; a mapping of labels to learners in Python" if key == "learners" else ""
        raise DataError(
            f"{key}: {repeated[0]!r} is there twice; give each a label of its own (label in a "
            f"study file and in choices of a study{also})."
        )


def _agent_contestants(
    study: Study, choice: LearnerChoice, planned: PlannedData
) -> list[Contestant]:
    """Return an agent of a study with every setting, for one environment.

    Parameters
    ----------
    study
        The study.
    choice
        One of its agents.
    planned
        One of its environments.
    """
    if isinstance(choice.learner, str):
        known = entry(choice.learner)
        base, name = known.make(), known.name
    else:
        base, name = clone(choice.learner), type(choice.learner).__name__
    settings = learner_settings(study, choice)
    blocks: Sequence[int | None] = learner_blocks(study, choice) or [None] * len(settings)
    contestants = []
    for levels, block in zip(settings, blocks, strict=True):
        parts = setting_parts(levels)
        if parts.preparation is not None:
            raise DataError(f"factors.{PREPARATION}: an environment has no table to prepare.")
        if parts.data not in (None, planned.label):
            continue
        agent = _agent_with_parameters(base, {**choice.parameters, **parts.parameters}, name)
        _tell_discount(agent, planned.data.discount)
        if problem := misfit(agent, planned.data.spaces):
            raise DataError(f"Agent {name!r} cannot act in {planned.label!r}: {problem}")
        contestants.append(
            Contestant(
                label=choice.label or name,
                setting={key: level for key, level in levels.items() if key != DATA_SET},
                estimator=agent,
                preparation=ACTS,
                description=describe(agent),
                uses_names=False,
                share=parts.share,
                block=block,
            )
        )
    return contestants


def _agent_with_parameters(base: Any, parameters: dict[str, Any], name: str) -> Any:
    agent = clone(base)
    accepted = agent.get_params(deep=True)
    for parameter in parameters:
        if parameter not in accepted:
            raise DataError(
                f"Agent {name!r} has no parameter {parameter!r}; it has "
                f"{', '.join(sorted(accepted)) or 'none'}."
            )
    return agent.set_params(**parameters)


def _tell_discount(agent: Any, discount: float) -> None:
    """Tell an agent the discount of the environment, where it has none of its own."""
    if agent.get_params(deep=False).get("discount", discount) is None:
        agent.set_params(discount=discount)


def _block_seed(study: Study, environment: str, number: int) -> int:
    """Return the seed of a block, the same for all agents in an environment.

    Parameters
    ----------
    study
        The study.
    environment
        Key of the environment.
    number
        Number of the block.
    """
    return seed_of(digest([environment, "seed", number]), study.seed)
