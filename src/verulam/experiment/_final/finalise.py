"""From the winner of a study to a model in use: refit, test once, write the card, save."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.decision import LossTable
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._final.card import ModelCard, ResponseCard
from verulam.experiment._final.choice import (
    Rebuilt,
    data_label,
    reason_for,
    rebuild,
    refuse_other_tasks,
    select_contestant,
)
from verulam.experiment._final.estimate import (
    decision_response,
    locked_response,
    predictions_of,
    resampled_response,
)
from verulam.experiment._final.explanation import Explanation
from verulam.experiment._final.final_learner import (
    final_card,
    fitted_learner,
    with_explained_rows,
)
from verulam.experiment._final.importance import model_insight
from verulam.experiment._final.model_file import (
    SavedModel,
    load_model,
    packed_learner,
)
from verulam.experiment._final.placing import card_paths, place, staging_for
from verulam.experiment._identity import digest_bytes
from verulam.experiment._store.results import Results
from verulam.experiment._store.test_set_log import (
    Opening,
    earlier_uses,
    open_locked_part,
)
from verulam.experiment._study.cost_matrix import decision_risk, losses_on
from verulam.experiment._study.study import Study

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
    refuse_other_tasks(results)
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
    estimator, remarks = fitted_learner(rebuilt)
    if losses is not None and not hasattr(estimator, "predict_proba"):
        remarks.append("The learner gives no probabilities: there are no decisions by losses.")
        losses = None
    insight, remark = model_insight(rebuilt, estimator, analysis, contestant)
    remarks += remark
    # As must one that cannot be saved, or for which there is no room.
    packed = packed_learner(estimator, contestant.name)
    with staging_for(file) as staging:
        staging.make_room(packed)
        judged = _judge_on_locked_part(
            results, rebuilt, estimator, contestant.name, losses, force=force
        )
        resampled = resampled_response(
            analysis.responses, label, contestant.name, analysis.evidence.get(label)
        )
        card = final_card(
            results,
            rebuilt,
            estimator,
            name=contestant.name,
            reason=reason_for(analysis, label, contestant.name, learner),
            responses=(*judged.responses, resampled),
            caveats=(*judged.caveats, *_caveats(analysis), *remarks),
            losses=losses,
            insight=insight,
        )
        card = with_explained_rows(card, rebuilt, estimator)
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
    weights = None if planned.weights is None else planned.weights[planned.locked]
    predictions = predictions_of(estimator, inputs, targets, rebuilt.classes, groups, weights)
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


def _caveats(analysis: Analysis) -> list[str]:
    lines = ["The figures are for rows drawn in the same way as those of the data set."]
    left = analysis.results.status().get("left", 0)
    if left:
        lines.append(f"{left} runs of the study were left when the learner was chosen.")
    return lines
