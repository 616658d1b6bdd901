"""A factorial grid over a machine's parameters and those of its kernel, with validation."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from verulam.base import DataError, Seed, clone, generator
from verulam.kernel._kernels.general import as_kernel
from verulam.kernel._svm.classifier import SupportVectorClassifier
from verulam.kernel._svm.cost_path import cost_path

#: Training rows with their targets, and those to be scored with theirs.
Split = tuple[Any, np.ndarray, Any, np.ndarray]


@dataclass(frozen=True, eq=False)
class FactorGrid:
    """Scores of a machine for every combination of some values of its parameters.

    Attributes
    ----------
    estimator
        The machine, with all that the grid does not vary.
    factors
        Values of each factor.
    settings
        The combinations, the last factor changing fastest.
    scores : ndarray of shape (n_settings, n_splits)
        Accuracy, or the machine's own score, on the rows of each split that it was not trained on;
        missing where training was refused.
    support_shares : ndarray of shape (n_settings,)
        Mean share of the training rows that are support vectors.
    refusals
        Why training was refused, for the places of those settings.
    """

    estimator: Any
    factors: dict[str, list[Any]]
    settings: list[dict[str, Any]]
    scores: np.ndarray
    support_shares: np.ndarray
    refusals: dict[int, str]

    def table(self) -> pd.DataFrame:
        """Return one row for each setting: its values, mean score, deviation, and support share."""
        table = pd.DataFrame(self.settings)
        table["score"] = self.scores.mean(axis=1)
        if self.scores.shape[1] > 1:
            table["deviation"] = self.scores.std(axis=1, ddof=1)
        table["support_share"] = self.support_shares
        return table

    @property
    def best(self) -> dict[str, Any]:
        """The setting of the highest mean score; of equal ones that with fewest support vectors."""
        return self.settings[self.best_place]

    @property
    def best_place(self) -> int:
        """Place of the best setting."""
        means = self.scores.mean(axis=1)
        order = np.lexsort((np.nan_to_num(self.support_shares), -np.nan_to_num(means, nan=-np.inf)))
        return int(order[0])

    def best_machine(self) -> Any:
        """Return the machine with the best setting, not yet trained."""
        return with_setting(self.estimator, self.best)


def factor_grid(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    factors: Mapping[str, Iterable[Any]],
    *,
    n_folds: int = 5,
    validation: tuple[Any, ArrayLike] | None = None,
    random_state: Seed = 0,
) -> FactorGrid:
    """Train a machine for every combination of values, and score each on rows it did not see.

    Costs of a classifier are one path for each of the other settings: they share kernel values, and
    each starts from the last (see `cost_path`).

    Parameters
    ----------
    estimator
        Machine with a `kernel`; it is not changed.
    X, y
        Training data; objects or a Gram matrix if the kernel takes them.
    factors
        Values by the name of a parameter of the machine ("C", "nu", "epsilon") or of its kernel
        ("width", "degree").
    n_folds
        Parts of cross-validation, with the shares of the classes kept.
    validation
        Inputs and targets to score on instead of cross-validation.
    random_state
        Seed of the parts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import Gaussian, SupportVectorClassifier, factor_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SupportVectorClassifier(kernel=Gaussian(1.0))
    >>> grid = factor_grid(machine, X, y, {"C": [0.01, 1.0, 100.0], "width": [0.1, 1.0, 10.0]})
    >>> grid.table().shape
    (9, 5)
    >>> grid.best
    {'C': 100.0, 'width': 10.0}
    """
    levels = {name: list(values) for name, values in factors.items()}
    if not levels or not all(levels.values()):
        raise DataError(f"factors must name one or more, each with values; got {levels}.")
    settings = [
        dict(zip(levels, values, strict=True)) for values in itertools.product(*levels.values())
    ]
    # All names are known and all kernels can be made before anything is trained.
    machines = [with_setting(estimator, setting) for setting in settings]
    splits = list(_splits(estimator, X, y, n_folds, validation, random_state))
    scores = np.full((len(settings), len(splits)), np.nan)
    shares = np.full(scores.shape, np.nan)
    refusals: dict[int, str] = {}
    for places in _paths(estimator, settings):
        for column, (rows, targets, others, truth) in enumerate(splits):
            try:
                trained = _train([machines[place] for place in places], rows, targets)
            except DataError as error:
                refusals |= {place: str(error) for place in places}
                break
            for place, fitted in zip(places, trained, strict=True):
                scores[place, column] = fitted.score(others, truth)
                if hasattr(fitted, "support_"):
                    shares[place, column] = len(fitted.support_) / len(targets)
    if len(refusals) == len(settings):
        raise DataError(f"no setting of the grid could be trained: {refusals[0]}")
    return FactorGrid(estimator, levels, settings, scores, shares.mean(axis=1), refusals)


def with_setting(estimator: Any, setting: Mapping[str, Any]) -> Any:
    """Return a copy of a machine with other values of its parameters and of its kernel's."""
    parameters = set(estimator.get_params(deep=False)) - {"kernel"}
    kernel: Any = as_kernel(estimator.kernel)
    of_kernel = [field.name for field in fields(kernel)] if is_dataclass(kernel) else []
    for name in setting:
        if name not in parameters.union(of_kernel):
            raise DataError(
                f"factors: {name!r} is a parameter neither of the machine "
                f"({', '.join(sorted(parameters))}) nor of its kernel "
                f"({', '.join(sorted(of_kernel)) or 'it has none'})."
            )
    changed = {name: value for name, value in setting.items() if name not in parameters}
    copy = clone(estimator).set_params(
        **{name: value for name, value in setting.items() if name in parameters}
    )
    return copy.set_params(kernel=replace(kernel, **changed)) if changed else copy


def _paths(estimator: Any, settings: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return groups of settings to be trained together: those that differ in the cost alone."""
    places = range(len(settings))
    along = (
        isinstance(estimator, SupportVectorClassifier)
        and estimator.form == "cost"
        and estimator.calibration is None
        and not {"form", "calibration"} & set(settings[0])
    )
    if not along:
        return [[place] for place in places]
    groups: dict[str, list[int]] = {}
    for place in places:
        rest = {name: value for name, value in settings[place].items() if name != "C"}
        # A hard margin is another program, and starts from none of the path.
        hard = settings[place].get("C") == np.inf
        # By their text, as values of factors need not be hashable.
        groups.setdefault(repr((rest, hard)), []).append(place)
    return [
        sorted(group, key=lambda place: settings[place].get("C", 0)) for group in groups.values()
    ]


def _train(machines: list[Any], rows: Any, targets: np.ndarray) -> list[Any]:
    if len(machines) == 1:
        return [machines[0].fit(rows, targets)]
    return cost_path(machines[0], rows, targets, [machine.C for machine in machines]).classifiers


def _splits(
    estimator: Any, X: Any, y: ArrayLike, n_folds: int, validation: Any, random_state: Seed
) -> Iterable[Split]:
    kernel, targets = as_kernel(estimator.kernel), np.asarray(y)
    inputs = kernel.inputs(X) if kernel.takes == "objects" else X
    if validation is not None:
        yield inputs, targets, validation[0], np.asarray(validation[1])
        return
    if not 2 <= n_folds <= len(targets):
        raise DataError(f"n_folds must be from 2 to the number of rows; got {n_folds}.")
    # scikit-learn's folds take a number, not a generator.
    seed = int(generator(random_state).integers(2**31))
    folds = (StratifiedKFold if is_classifier(estimator) else KFold)(
        n_folds, shuffle=True, random_state=seed
    )
    for rest, held_out in folds.split(np.zeros(len(targets)), targets):
        if kernel.takes == "gram":
            matrix = np.asarray(X)
            parts = matrix[np.ix_(rest, rest)], matrix[np.ix_(held_out, rest)]
        elif isinstance(inputs, pd.DataFrame):
            parts = inputs.iloc[rest], inputs.iloc[held_out]
        else:
            parts = np.asarray(inputs)[rest], np.asarray(inputs)[held_out]
        yield parts[0], targets[rest], parts[1], targets[held_out]
