"""The learner of a study fitted to all of its rows, and what there is to say of it."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from verulam.base import DataError
from verulam.data import Dataset
from verulam.decision import LossTable
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._final.card import ColumnCard, ModelCard, ResponseCard
from verulam.experiment._final.choice import (
    Rebuilt,
    rebuild,
)
from verulam.experiment._final.explanation import explained_rows
from verulam.experiment._final.importance import (
    MOST_COLUMNS,
    MOST_SPLITS,
    PATIENCE,
    model_insight,
)
from verulam.experiment._final.insight import ModelInsight
from verulam.experiment._final.understanding import innermost
from verulam.experiment._identity import describe, digest, seed_of
from verulam.experiment._run.execute import seeded
from verulam.experiment._store.environment import environment
from verulam.experiment._store.responses import StoredContestant
from verulam.experiment._store.results import Results
from verulam.experiment._study.study import Study
from verulam.experiment._text import named
from verulam.experiment._tuning.learner import TunedLearner


def with_explained_rows(card: ModelCard, rebuilt: Rebuilt, estimator: Any) -> ModelCard:
    """Return the card with what speaks for the predictions of some rows.

    Parameters
    ----------
    card
        The card of the model.
    rebuilt
        Its data.
    estimator
        The fitted learner.
    """
    planned, insight = rebuilt.planned, card.insight
    try:
        explained = explained_rows(
            card, estimator, planned.inputs, planned.targets, rebuilt.development_rows,
            insight.worst,
        )  # fmt: skip
    # Rows that are changed in one column may be such as no learner has seen; the model stands.
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        return replace(card, caveats=(*card.caveats, f"No single row could be explained: {words}"))
    return replace(card, insight=replace(insight, explained=explained))


def fitted_learner(rebuilt: Rebuilt) -> tuple[Any, list[str]]:
    """Return the learner fitted to all rows that are not locked away, and what to know of it.

    A learner that was tuned in the runs of the study is tuned again, and only what it chose
    remains.

    Parameters
    ----------
    rebuilt
        The learner before it was fitted, and its data.
    """
    contestant, rows = rebuilt.contestant, rebuilt.development_rows
    identity = digest(["final", rebuilt.planned.key, digest(contestant.description)])
    estimator = seeded(contestant.estimator, seed_of(identity, rebuilt.study.seed))
    # One thread, as in the runs of the study.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rebuilt.fit(estimator, rows)
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
    insight: ModelInsight | None = None,
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
    insight
        What the model goes by.
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
        insight=insight or ModelInsight(),
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


def _plain_losses(losses: LossTable | None) -> dict[str, Any] | None:
    if losses is None:
        return None
    return {
        "actions": np.asarray(losses.actions).tolist(),
        "matrix": losses.matrix.tolist(),
        "can_reject": losses.can_reject,
    }


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


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of the learner itself that are not its defaults, as plain values."""
    last = innermost(estimator)
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
    plain = {name: describe(value) for name, value in changed.items()}
    threshold = getattr(estimator, "threshold_", None)
    return plain if threshold is None else plain | {"threshold": round(float(threshold), 6)}


def chosen_insight(
    analysis: Analysis, data: str, contestant: StoredContestant, study: Study | None = None
) -> ModelInsight:
    """Return what a contestant of a study goes by, fitted to the rows of a data set again.

    Parameters
    ----------
    analysis
        The analysis of the study.
    data
        Label of the data set.
    contestant
        The contestant.
    study
        The study itself, where the store cannot tell.

    Raises
    ------
    DataError
        If the data or the learner are not what they were, or if it would take very long.
    """
    rebuilt = rebuild(analysis.results, data, contestant, study=study)
    costs = analysis.table.loc[contestant.name]
    # Each column is shuffled by itself, and the rows are predicted again.
    columns = min(rebuilt.planned.inputs.shape[1], MOST_COLUMNS)
    seconds = (costs["fit_seconds"] + columns * costs["predict_seconds"]) * (1 + MOST_SPLITS)
    if seconds > PATIENCE:
        raise DataError(
            f"fitting {named(contestant.name)} again would take about {seconds:.0f} seconds; the "
            "card of a finalised model has it."
        )
    if rebuilt.planned.outputs:
        raise DataError("there are several outputs; a comparison of each by itself has it.")
    estimator, _ = fitted_learner(rebuilt)
    insight, remarks = model_insight(rebuilt, estimator, analysis, contestant)
    if remarks:
        raise DataError(remarks[0])
    card = final_card(
        analysis.results, rebuilt, estimator, name=contestant.name, reason="", responses=(),
        caveats=(), losses=None, insight=insight,
    )  # fmt: skip
    return with_explained_rows(card, rebuilt, estimator).insight
