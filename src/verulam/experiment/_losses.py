"""What wrong decisions cost, as a study says it: checked, and turned into a table of losses."""

from collections.abc import Mapping, Sequence
from typing import Any

from verulam.base import DataError
from verulam.decision import LossTable, loss_table

#: A row per action with a loss per class, with or without names.
Losses = Sequence[Sequence[float]] | Mapping[str, Mapping[str, float]]


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
            action: {labels.get(name, name): value for name, value in row.items()}
            for action, row in losses.items()
        }
    elif losses is not None and len({len(row) for row in losses}) > 1:
        raise DataError("losses: its rows differ in length; each needs one loss per class.")
    try:
        return loss_table(classes, losses, reject_cost=reject_cost)
    except DataError as error:
        text = str(error)
        raise DataError(f"losses: {text}" if not text.startswith("reject") else text) from error
