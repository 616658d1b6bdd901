"""What wrong decisions cost, as a study says it: checked, and turned into a table of losses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.decision import LossTable, loss_table
from verulam.measures import Measure, as_measure, measure

if TYPE_CHECKING:
    from verulam.experiment._plan.data import PlannedData
    from verulam.experiment._study.study import Study

#: A row per action with a loss per class, with or without names.
Losses = Sequence[Sequence[float]] | Mapping[str, Mapping[str, float]]


def read_losses(losses: Any) -> Losses | None:
    """Return what decisions cost, from a table or a file as well.

    Parameters
    ----------
    losses
        A row per decision with one loss per class, ``{decision: {class: loss}}``, a DataFrame with
        decisions as its index, or a CSV file: decisions in its first column, the classes above the
        others.

    Examples
    --------
    >>> import pandas as pd
    >>> read_losses(pd.DataFrame({"well": [0, 1], "ill": [10, 0]}, index=["well", "ill"]))
    {'well': {'well': 0.0, 'ill': 10.0}, 'ill': {'well': 1.0, 'ill': 0.0}}
    """
    if isinstance(losses, str | Path):
        return _plain_losses(_loss_file(Path(losses)))
    if isinstance(losses, pd.DataFrame):
        return _plain_losses(losses)
    if losses is None or isinstance(losses, Mapping | Sequence):
        return losses
    raise DataError(
        f"losses: got {type(losses).__name__}; expected {{decision: {{class: loss}}}}, a "
        "DataFrame or a CSV file with a row per decision and a column per class."
    )


def _loss_file(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path, index_col=0, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise DataError(f"losses: there is no file {path}.") from None
    except (ValueError, OSError) as error:
        raise DataError(f"losses: {path} cannot be read as a table: {error}.") from error


def _plain_losses(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return a table of losses by its names, or say which of its cells is no number."""
    numbers = table.apply(pd.to_numeric, errors="coerce")
    places = np.argwhere(numbers.isna().to_numpy())
    if numbers.empty:
        raise DataError("losses: the table is empty; expected a row per decision.")
    if len(places):
        row, column = places[0]
        raise DataError(
            f"losses: {table.iloc[row, column]!r} for decision {str(table.index[row]).strip()!r} "
            f"and class {str(table.columns[column]).strip()!r} is no number."
        )
    for kind, labels in (("decision", table.index), ("class", table.columns)):
        names = labels.astype(str).str.strip()
        if names.has_duplicates:
            raise DataError(f"losses: {kind} {names[names.duplicated()][0]!r} is there twice.")
    return {
        str(action).strip(): {str(name).strip(): float(cost) for name, cost in row.items()}
        for action, row in numbers.iterrows()
    }


def check_losses(losses: Losses | None, reject_cost: float | None) -> None:
    """Refuse losses that no data set could use; the message names the key.

    Parameters
    ----------
    losses
        Rows of actions, columns of classes.
    reject_cost
        Loss of withholding the decision.
    """
    if losses is None and reject_cost is None:
        return
    if losses is None:
        # With the 0/1 loss, two classes stand for any number of them.
        losses = [[0.0, 1.0], [1.0, 0.0]]
    if isinstance(losses, Mapping):
        columns = list(next(iter(losses.values()), {}))
    else:
        columns = [str(place) for place in range(len(losses[0]) if losses else 0)]
    losses_on(columns, losses, reject_cost)


def unsuited_losses(
    classes: Mapping[str, Sequence[Any]], losses: Losses | None, reject_cost: float | None
) -> dict[str, str]:
    """Return for which data sets the losses cannot be used, and why; refuse those of no use at all.

    Parameters
    ----------
    classes
        For each data set with classes its labels.
    losses
        Rows of actions, columns of classes.
    reject_cost
        Loss of withholding the decision.
    """
    unsuited: dict[str, str] = {}
    for label, known in classes.items():
        try:
            losses_on(known, losses, reject_cost)
        except DataError as error:
            unsuited[label] = str(error)
    if unsuited and len(unsuited) == len(classes):
        label, reason = next(iter(unsuited.items()))
        raise DataError(f"{reason} The data set is {label!r}.")
    return unsuited


def losses_on(
    classes: Sequence[Any], losses: Losses | None, reject_cost: float | None
) -> LossTable | None:
    """Return the table of losses for the classes of a data set; None where nothing was said.

    Parameters
    ----------
    classes
        Labels, in the order of their probabilities.
    losses
        Rows of actions, columns of classes; None is the 0/1 loss.
    reject_cost
        Loss of withholding the decision; None decides always.

    Examples
    --------
    >>> losses_on(["healthy", "ill"], [[0, 10], [1, 0]], 0.5).to_frame()
            healthy   ill
    healthy     0.0  10.0
    ill         1.0   0.0
    reject      0.5   0.5
    """
    if losses is None and reject_cost is None:
        return None
    if isinstance(losses, Mapping):
        # A study file has no keys but words, whatever the labels of the classes are.
        labels = {str(label): label for label in classes}
        losses = {
            labels.get(action, action): {
                labels.get(name, name): value for name, value in row.items()
            }
            for action, row in losses.items()
        }
    elif losses is not None and len({len(row) for row in losses}) > 1:
        raise DataError("losses: its rows differ in length; each needs one loss per class.")
    try:
        return loss_table(classes, losses, reject_cost=reject_cost)
    except DataError as error:
        text = str(error)
        raise DataError(f"losses: {text}" if not text.startswith("reject") else text) from error


def decision_losses(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    labels: Sequence[Any],
    losses: Losses | None,
    reject_cost: float | None = None,
) -> np.ndarray:
    """Return the loss of the decision of least risk for each row.

    Parameters
    ----------
    y_true
        True classes.
    prediction
        Probabilities, a column per class.
    labels
        The classes.
    losses, reject_cost
        As the study has them.

    Examples
    --------
    >>> costly = [[0, 10], [1, 0]]  # to overlook an illness costs ten times a false alarm
    >>> probabilities = [[0.95, 0.05], [0.8, 0.2], [0.8, 0.2]]
    >>> truth = ["healthy", "healthy", "ill"]
    >>> decision_losses(truth, probabilities, labels=["healthy", "ill"], losses=costly).tolist()
    [0.0, 1.0, 0.0]
    """
    table = losses_on(labels, losses, reject_cost)
    assert table is not None
    places = {label: place for place, label in enumerate(labels)}
    truth = [places[label] for label in np.asarray(y_true).tolist()]
    return table.matrix[table.best(np.asarray(prediction, dtype=np.float64)), truth]


def decision_risk(
    y_true: ArrayLike,
    prediction: ArrayLike,
    *,
    labels: Sequence[Any],
    losses: Losses | None,
    reject_cost: float | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> float:
    """Return the mean of `decision_losses`, in which rows may weigh more or less."""
    rows = decision_losses(
        y_true, prediction, labels=labels, losses=losses, reject_cost=reject_cost
    )
    return float(np.average(rows, weights=sample_weight))


def study_measure(
    response: Any, losses: Losses | None, reject_cost: float | None, key: str = "measures"
) -> Measure:
    """Return a measure of a study; the plain risk is that of the study's own losses.

    Parameters
    ----------
    response
        A name or a measure.
    losses, reject_cost
        As the study has them.
    key
        Where it is named.
    """
    asked = as_measure(response)
    plain = measure("risk")
    if asked.function not in (plain.function, decision_risk) or "loss" in asked.options:
        return asked
    if losses is None and reject_cost is None:
        raise DataError(
            f"{key}: 'risk' needs to know what wrong decisions cost; give the study losses "
            "(a row per decision, a column per class), or a reject_cost."
        )
    return replace(
        plain,
        needs="probabilities",
        title="Expected cost",
        function=decision_risk,
        formula="mean loss of the decisions of least risk",
        options={"losses": losses, "reject_cost": reject_cost},
        rows=decision_losses,
    )


def stored_prediction(
    measure: Measure,
    classes: np.ndarray,
    predicted: np.ndarray,
    probabilities: np.ndarray | None,
    scores: np.ndarray | None,
) -> np.ndarray | None:
    """Return what a measure of classes looks at; None where a learner does not give it.

    Parameters
    ----------
    measure
        The measure.
    classes
        The labels.
    predicted
        Positions among the classes.
    probabilities, scores
        What else the learner gave.
    """
    if measure.needs == "labels":
        return classes[predicted]
    if probabilities is not None:
        return probabilities
    if measure.function is decision_risk:
        # Who names a class and no more is taken at his word.
        return np.eye(len(classes))[predicted]
    return scores if measure.needs == "scores" else None


def has_losses(study: "Study") -> bool:
    """Return whether a study says what wrong or withheld decisions cost."""
    return study.losses is not None or study.reject_cost is not None


def unsuited_data(study: "Study", data: Sequence["PlannedData"]) -> dict[str, str]:
    """Return the data sets whose classes the losses of a study do not fit, and why.

    Parameters
    ----------
    study
        What says what decisions cost.
    data
        Its data sets.
    """
    if not has_losses(study):
        return {}
    classes = {
        planned.label: np.unique(planned.targets).tolist()
        for planned in data
        if planned.task == "classification"
    }
    return unsuited_losses(classes, study.losses, study.reject_cost)
