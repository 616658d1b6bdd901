"""From the winner of a study to a model in use: refit, test once, write the card, save."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from verulam.base import DataError
from verulam.data import Dataset
from verulam.decision import LossTable
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._final.card import ColumnCard, ModelCard, ResponseCard
from verulam.experiment._final.choice import (
    Rebuilt,
    data_label,
    reason_for,
    rebuild,
    select_contestant,
)
from verulam.experiment._final.estimate import (
    Importance,
    column_importances,
    decision_response,
    locked_response,
    predictions_of,
    resampled_response,
)
from verulam.experiment._final.explanation import Explanation
from verulam.experiment._final.model_file import (
    SavedModel,
    load_model,
    packed_learner,
)
from verulam.experiment._final.placing import card_paths, place, staging_for
from verulam.experiment._identity import describe, digest, digest_bytes, seed_of
from verulam.experiment._run.execute import seeded
from verulam.experiment._store.environment import environment
from verulam.experiment._store.results import Results
from verulam.experiment._store.test_set_log import (
    Opening,
    earlier_uses,
    open_locked_part,
)
from verulam.experiment._study.cost_matrix import decision_risk, losses_on
from verulam.experiment._study.study import Study
from verulam.experiment._tuning.learner import TunedLearner

WITHOUT_LOCKED_PART = (
    "The study locked no test part away (test_share = 0): the figure is the one that the learner "
    "was chosen by, and a little too good."
)


@dataclass(frozen=True, eq=False, repr=False)
class Finalised:
    """A final model and where it was written.

    Attributes
    ----------
    path
        The model file.
    model
        The fitted learner with its card.
    """

    path: Path
    model: SavedModel

    @property
    def card(self) -> ModelCard:
        """What to know about the model."""
        return self.model.card

    @property
    def card_paths(self) -> tuple[Path, Path]:
        """Where the card is to be read: as HTML and as Markdown."""
        return card_paths(self.path)

    def explain(self, row: Any) -> Explanation:
        """Return what speaks for the prediction of one row.

        Parameters
        ----------
        row
            A mapping of columns to values, or a row of a table.
        """
        return self.model.explain(row)

    def __str__(self) -> str:
        return f"{self.card}\n\nModel: {self.path}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.card._repr_html_()


def finalise(
    store: Results | str | Path,
    learner: str | None = None,
    *,
    data: str | None = None,
    path: str | Path | None = None,
    study: Study | None = None,
    source: Any = None,
    force: bool = False,
) -> Finalised:
    """Make the model that a study ends in, judge it once, and save it with its card.

    The learner is fitted to all rows but those of the locked test part, which are then used for
    the first and only time. Where the study locked nothing away, it is fitted to all rows, and
    the card has the figure of the study's own runs.

    Parameters
    ----------
    store
        The results of the study, or the path of its store.
    learner
        "best" for the best mean response, "recommended" for the one that the answer of the study
        recommends, or the name of a learner or contestant. None takes the recommended one; where
        there is none for all data sets, the choice on this one, or else the best.
    data
        Label of the data set, where the study has several.
    path
        The model file; None writes beside the store, with the ending ``.skops``.
    study
        The study itself, where its learners were given as objects.
    source
        The data, where they are not found where they were.
    force
        Use a locked test part once more, and replace a model file that is there. Either is
        recorded.

    Notes
    -----
    Alpaydin 19.1: the test part is used when all choices have been made, and once.

    A process that is killed leaves the files as they were or as they are to be. Where it had
    everything ready, the same call moves what is left and returns the model.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, finalise, run
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> study = Study("flowers", [DataChoice("iris")], learners, test_share=1 / 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     made = finalise(results)
    >>> print(made.card.response)
    Error 0.08 (95% interval 0.03155 to 0.1884), locked test part
    >>> made.card.training_rows, made.card.test_rows
    (100, 50)
    """
    results = store if isinstance(store, Results) else Results(store)
    label = data_label(results, data)
    file = _model_path(results, label, data, path)
    placed = place(file, results.path)
    if placed is not None and list(placed.request) == [learner, data]:
        # The same was asked for before, and interrupted when all was ready.
        return Finalised(file, load_model(file))
    _refuse_existing(file, force=force)
    analysis = analyse(results)
    contestant = select_contestant(analysis, label, learner)
    rebuilt = rebuild(results, label, contestant, study=study, source=source)
    losses = None
    if rebuilt.classes:
        losses = losses_on(rebuilt.classes, rebuilt.study.losses, rebuilt.study.reject_cost)
    # Fitted first: a learner that fails must not cost the one look at the locked part.
    estimator, remarks = _fitted(rebuilt)
    if losses is not None and not hasattr(estimator, "predict_proba"):
        remarks.append("The learner gives no probabilities: there are no decisions by losses.")
        losses = None
    importances, remark = _importances(rebuilt, estimator, analysis)
    remarks += remark
    # As must one that cannot be saved, or for which there is no room.
    packed = packed_learner(estimator, contestant.name)
    with staging_for(file) as staging:
        staging.make_room(packed)
        judged = _judge_on_locked_part(
            results, rebuilt, estimator, contestant.name, losses, force=force
        )
        resampled = resampled_response(analysis.responses, label, contestant.name)
        card = final_card(
            results,
            rebuilt,
            estimator,
            name=contestant.name,
            reason=reason_for(analysis, label, contestant.name, learner),
            responses=(*judged.responses, resampled),
            caveats=(*judged.caveats, *_caveats(analysis), *remarks),
            losses=losses,
            importances=importances,
        )
        staging.commit(packed, card, results.path, judged.number, [learner, data])
    place(file, results.path)
    return Finalised(file, SavedModel(card, estimator))


@dataclass(frozen=True, eq=False)
class _Judgement:
    """What the locked test part gave.

    Attributes
    ----------
    number
        Of its use in the log of the store; None where there is no such part.
    responses, caveats
        How good the model is on it, and what to keep in mind.
    """

    number: int | None
    responses: tuple[ResponseCard, ...]
    caveats: tuple[str, ...]


def _judge_on_locked_part(
    results: Results,
    rebuilt: Rebuilt,
    estimator: Any,
    name: str,
    losses: LossTable | None,
    *,
    force: bool,
) -> _Judgement:
    """Use the locked test part, which the store records before it is looked at."""
    planned = rebuilt.planned
    if not len(planned.locked):
        return _Judgement(None, (), (WITHOUT_LOCKED_PART,))
    locked = digest_bytes(np.asarray(planned.locked, dtype="<i8").tobytes())
    opening = Opening(results.study, planned.data.content_hash, planned.label, locked, name)
    number = open_locked_part(results.path, opening, force=force)
    targets = planned.targets[planned.locked]
    groups = None if planned.groups is None else planned.groups[planned.locked]
    inputs = rebuilt.inputs(planned.locked)
    predictions = predictions_of(estimator, inputs, targets, rebuilt.classes, groups)
    seed, task = rebuilt.study.seed, planned.data.task
    # The decisions have a figure of their own, below.
    left_out = () if losses is None else (decision_risk,)
    measured = [
        locked_response(measure, predictions, seed=seed)
        for measure in results.measures
        if measure.task == task and measure.function not in left_out
    ]
    responses = [card for card in measured if card is not None]
    if losses is not None:
        responses.append(decision_response(losses, predictions, seed=seed))
    uses = earlier_uses(results.path, opening, number)
    caveat = (
        f"The locked test part had been used before ({'; '.join(uses)}): its figure is too good."
    )
    return _Judgement(number, tuple(responses), (caveat,) if uses else ())


def _model_path(results: Results, label: str, data: str | None, path: str | Path | None) -> Path:
    if path is None:
        stem = results.path.stem if data is None else f"{results.path.stem}-{label}"
        path = results.path.with_name(f"{stem}.skops")
    file = Path(path)
    if file.is_dir() or not file.resolve().parent.is_dir():
        raise DataError(f"path: {file} cannot be written; name a file in a folder that exists.")
    return file


def _refuse_existing(file: Path, *, force: bool) -> None:
    if file.exists() and not force:
        raise DataError(
            f"{file} is already there; name another file (path; --output of the command), or have "
            "it replaced (force; --force)."
        )


def _fitted(rebuilt: Rebuilt) -> tuple[Any, list[str]]:
    """Return the learner fitted to all rows that are not locked away, and what to know of it.

    A learner that was tuned in the runs of the study is tuned again, and only what it chose
    remains.
    """
    contestant, rows = rebuilt.contestant, rebuilt.development_rows
    identity = digest(["final", rebuilt.planned.key, digest(contestant.description)])
    estimator = seeded(contestant.estimator, seed_of(identity, rebuilt.study.seed))
    together = {}
    if isinstance(estimator, TunedLearner) and rebuilt.planned.groups is not None:
        together = {"groups": rebuilt.planned.groups[rows]}
    # One thread, as in the runs of the study.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(rebuilt.inputs(rows), rebuilt.planned.targets[rows], **together)
    texts = [
        f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"
        for warning in caught
    ]
    remarks = [f"Fitting warned: {text[:200]}" for text in dict.fromkeys(texts)]
    if not isinstance(estimator, TunedLearner):
        return estimator, remarks
    setting = ", ".join(f"{name}={value}" for name, value in estimator.best_setting_.items())
    tuned = f"Tuned on the rows that it was made from ({estimator.n_fits_} fits): {setting}."
    return estimator.best_estimator_, [tuned, *remarks]


def _importances(
    rebuilt: Rebuilt, estimator: Any, analysis: Analysis
) -> tuple[tuple[Importance, ...], list[str]]:
    """Return what shuffling each column costs; where that has no value, why, and no importances."""
    try:
        return column_importances(rebuilt, estimator, analysis.measure), []
    # Any learner is fitted again, to fewer rows, which may break it in any way; the model stands.
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        return (), [f"What each column accounts for could not be measured: {words}"]


def _caveats(analysis: Analysis) -> list[str]:
    lines = ["The figures are for rows drawn in the same way as those of the data set."]
    left = analysis.results.status().get("left", 0)
    if left:
        lines.append(f"{left} runs of the study were left when the learner was chosen.")
    return lines


def final_card(
    results: Results,
    rebuilt: Rebuilt,
    estimator: Any,
    *,
    name: str,
    reason: str,
    responses: Sequence[ResponseCard],
    caveats: Sequence[str],
    losses: LossTable | None,
    importances: Sequence[Importance] = (),
) -> ModelCard:
    """Return the card of a fitted learner.

    Parameters
    ----------
    results
        The study that chose it.
    rebuilt
        The learner before it was fitted, and its data.
    estimator
        The learner fitted to all rows but those locked away.
    name, reason
        What the contestant is called, and why it is this one.
    responses, caveats
        How good it is, and what to keep in mind.
    losses
        What decisions cost; None where the study did not say.
    importances
        What shuffling each column costs.
    """
    rows = rebuilt.development_rows
    planned, study = rebuilt.planned, rebuilt.study
    source = study.data[0].source if len(study.data) == 1 else planned.data.source
    return ModelCard(
        learner=name,
        reason=reason,
        parameters=_parameters(estimator),
        preparation=rebuilt.contestant.preparation,
        task=str(planned.data.task),
        target=str(planned.data.target),
        classes=tuple(rebuilt.classes),
        columns=_column_cards(planned.data, planned.inputs, rows),
        data={
            "name": planned.label,
            "source": str(source) if isinstance(source, str | Path) else planned.data.source,
            "hash": planned.data.content_hash,
            "rows": len(planned.targets),
        },
        training_rows=len(rows),
        test_rows=len(planned.locked),
        responses=tuple(responses),
        study={
            "name": results.description["name"],
            "hash": results.study,
            "question": results.description["question"],
            "resampling": results.design,
            "seed": study.seed,
        },
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=json.loads(environment().content),
        caveats=tuple(caveats),
        losses=_plain_losses(losses),
        accepts_missing=_accepts_missing(estimator, rebuilt),
        as_array=rebuilt.as_array,
        importances=tuple(map(asdict, importances)),
    )


def _column_cards(
    data: Dataset, inputs: pd.DataFrame, rows: NDArray[np.intp]
) -> tuple[ColumnCard, ...]:
    """Return every column of the data set; ranges and gaps are those of the rows learnt from."""
    roles: dict[str, str] = {str(data.target): "target"}
    roles |= dict.fromkeys(data.identifiers, "identifier") | dict.fromkeys(data.ignored, "ignored")
    cards = []
    for name in data.table.columns:
        role = "input" if name in inputs.columns else roles.get(name, "left out")
        column = (inputs if role == "input" else data.table)[name].iloc[rows]
        levels: tuple[Any, ...] = ()
        low = high = None
        kind = data.kinds[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            levels = tuple(column.cat.categories.tolist())
            kind = "categorical" if kind == "boolean" else kind
        elif kind == "numeric" and column.notna().any():
            low, high = float(column.min()), float(column.max())
        missing = int(column.isna().sum())
        form, typical = data.forms.get(str(name), ""), _typical(column, kind)
        cards.append(ColumnCard(str(name), role, kind, levels, low, high, missing, form, typical))
    return tuple(cards)


def _typical(column: pd.Series, kind: str) -> Any:
    """Return the median or the commonest value as a plain value; None for texts."""
    present = column.dropna()
    if present.empty or kind == "text":
        return None
    if kind == "numeric":
        return float(present.median())
    if kind == "date":
        return present.sort_values().iloc[len(present) // 2].isoformat()
    value = present.mode().iloc[0]
    return value.item() if isinstance(value, np.generic) else value


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of the learner itself that are not its defaults, as plain values."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, TransformedTargetRegressor):
        last = last.regressor
    parameters = last.get_params(deep=False)
    try:
        defaults = type(last)().get_params(deep=False)
    # Some learners need an argument.
    except TypeError:
        defaults = {}
    changed = {
        name: value
        for name, value in parameters.items()
        if name not in defaults or describe(defaults[name]) != describe(value)
    }
    return {name: describe(value) for name, value in changed.items()}


def _accepts_missing(estimator: Any, rebuilt: Rebuilt) -> bool:
    """Return whether the learner predicts for a row of which nothing is known."""
    empty = rebuilt.planned.inputs.iloc[:1].reindex([-1])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.predict(empty.to_numpy(dtype=np.float64) if rebuilt.as_array else empty)
    # Whatever a learner says to that, the answer is no.
    except Exception:
        return False
    return True


def _plain_losses(losses: LossTable | None) -> dict[str, Any] | None:
    if losses is None:
        return None
    return {
        "actions": np.asarray(losses.actions).tolist(),
        "matrix": losses.matrix.tolist(),
        "can_reject": losses.can_reject,
    }
