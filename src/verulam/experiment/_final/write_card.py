"""The card of a final model, written from the study and the data that it comes from."""

import json
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from verulam.data import Dataset
from verulam.decision import LossTable
from verulam.experiment._final.card import ColumnCard, ModelCard, ResponseCard
from verulam.experiment._final.choice import Rebuilt
from verulam.experiment._identity import describe
from verulam.experiment._store.environment import environment
from verulam.experiment._store.results import Results


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
        columns=_columns(planned.data, planned.inputs, rows),
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
        losses=_plain(losses),
        accepts_missing=_accepts_missing(estimator, rebuilt),
        as_array=rebuilt.as_array,
    )


def _columns(data: Dataset, inputs: pd.DataFrame, rows: NDArray[np.intp]) -> tuple[ColumnCard, ...]:
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
        cards.append(ColumnCard(str(name), role, kind, levels, low, high, missing))
    return tuple(cards)


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of the learner itself that are not its defaults, as plain values."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
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


def _plain(losses: LossTable | None) -> dict[str, Any] | None:
    if losses is None:
        return None
    return {
        "actions": np.asarray(losses.actions).tolist(),
        "matrix": losses.matrix.tolist(),
        "can_reject": losses.can_reject,
    }
