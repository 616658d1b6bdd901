"""From the winner of a study to a model in use: refit, judge once, save with a card."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.decision import LossTable
from verulam.experiment._analysis.analysis import Analysis, analyse
from verulam.experiment._final.card import ModelCard, ResponseCard
from verulam.experiment._final.choice import (
    Rebuilt,
    chosen_contestant,
    data_label,
    reason_for,
    rebuild,
)
from verulam.experiment._final.estimate import (
    decision_response,
    locked_response,
    predictions_of,
    resampled_response,
)
from verulam.experiment._final.model_file import SavedModel, save_model
from verulam.experiment._final.test_set_log import (
    Opening,
    close_locked_part,
    earlier_uses,
    open_locked_part,
)
from verulam.experiment._final.write_card import final_card
from verulam.experiment._identity import digest, digest_bytes, seed_of
from verulam.experiment._run.execute import seeded
from verulam.experiment._store.results import Results
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
        return _card_paths(self.path)

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
        "best" for the best mean response, "recommended" for the simplest learner that the tests
        cannot tell from it, or the name of a learner or contestant. None takes the one that the
        answer recommends, and the best where it recommends none.
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
    file = _model_path(results, label, data, path, force=force)
    analysis = analyse(results)
    chosen = chosen_contestant(analysis, label, learner)
    rebuilt = rebuild(results, label, chosen, study=study, source=source)
    losses = None
    if rebuilt.classes:
        losses = losses_on(rebuilt.classes, rebuilt.study.losses, rebuilt.study.reject_cost)
    # Fitted first: a learner that fails must not cost the one look at the locked part.
    estimator, remarks = _fitted(rebuilt)
    if losses is not None and not hasattr(estimator, "predict_proba"):
        remarks.append("The learner gives no probabilities: there are no decisions by losses.")
        losses = None
    look = _look(results, rebuilt, estimator, chosen.name, losses, force=force)
    responses = (*look.responses, resampled_response(analysis.responses, label, chosen.name))
    caveats = (*look.caveats, *_caveats(analysis), *remarks)
    card = final_card(
        results,
        rebuilt,
        estimator,
        name=chosen.name,
        reason=reason_for(analysis, label, chosen.name, learner),
        responses=responses,
        caveats=caveats,
        losses=losses,
    )
    model = SavedModel(card, estimator)
    seal = save_model(model, file)
    for page, content in zip(_card_paths(file), (card.to_html(), card.to_markdown()), strict=True):
        page.write_text(content, encoding="utf-8")
    if look.number is not None:
        close_locked_part(results.path, look.number, response=str(card.response), model=seal)
    return Finalised(file, model)


@dataclass(frozen=True, eq=False)
class _Look:
    """What a look at the locked test part gave; no number where there is no such part."""

    number: int | None
    responses: tuple[ResponseCard, ...]
    caveats: tuple[str, ...]


def _look(
    results: Results,
    rebuilt: Rebuilt,
    estimator: Any,
    name: str,
    losses: LossTable | None,
    *,
    force: bool,
) -> _Look:
    planned = rebuilt.planned
    if not len(planned.locked):
        return _Look(None, (), (WITHOUT_LOCKED_PART,))
    locked = digest_bytes(np.asarray(planned.locked, dtype="<i8").tobytes())
    opening = Opening(results.study, planned.data.content_hash, planned.label, locked, name)
    number = open_locked_part(results.path, opening, force=force)
    targets = planned.targets[planned.locked]
    groups = None if planned.groups is None else planned.groups[planned.locked]
    inputs = rebuilt.inputs(planned.locked)
    said = predictions_of(estimator, inputs, targets, rebuilt.classes, groups)
    seed, task = rebuilt.study.seed, planned.data.task
    # The decisions have a figure of their own, below.
    known = () if losses is None else (decision_risk,)
    measured = [
        locked_response(m, said, seed=seed)
        for m in results.measures
        if m.task == task and m.function not in known
    ]
    responses = [each for each in measured if each is not None]
    if losses is not None:
        responses.append(decision_response(losses, said, seed=seed))
    uses = earlier_uses(results.path, opening, number)
    used = f"The locked test part had been used before ({'; '.join(uses)}): its figure is too good."
    return _Look(number, tuple(responses), (used,) if uses else ())


def _model_path(
    results: Results, label: str, data: str | None, path: str | Path | None, *, force: bool
) -> Path:
    if path is None:
        stem = results.path.stem if data is None else f"{results.path.stem}-{label}"
        path = results.path.with_name(f"{stem}.skops")
    file = Path(path)
    if file.is_dir() or not file.resolve().parent.is_dir():
        raise DataError(f"path: {file} cannot be written; name a file in a folder that exists.")
    if file.exists() and not force:
        raise DataError(
            f"{file} is already there; name another file (path; --output of the command), or have "
            "it replaced (force; --force)."
        )
    return file


def _card_paths(file: Path) -> tuple[Path, Path]:
    html, markdown = (file.with_name(f"{file.stem}-card{ending}") for ending in (".html", ".md"))
    return html, markdown


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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(rebuilt.inputs(rows), rebuilt.planned.targets[rows], **together)
    texts = [f"{each.category.__name__}: {' '.join(str(each.message).split())}" for each in caught]
    remarks = [f"Fitting warned: {text[:200]}" for text in dict.fromkeys(texts)]
    if not isinstance(estimator, TunedLearner):
        return estimator, remarks
    setting = ", ".join(f"{name}={value}" for name, value in estimator.best_setting_.items())
    tuned = f"Tuned on the rows that it was made from ({estimator.n_fits_} fits): {setting}."
    return estimator.best_estimator_, [tuned, *remarks]


def _caveats(analysis: Analysis) -> list[str]:
    lines = ["The figures are for rows drawn in the same way as those of the data set."]
    left = analysis.results.status().get("left", 0)
    if left:
        lines.append(f"{left} runs of the study were left when the learner was chosen.")
    return lines
