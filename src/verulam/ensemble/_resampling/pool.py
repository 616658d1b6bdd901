"""Pools of diverse learners: other kinds, settings, seeds, columns and rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline

from verulam.base import (
    COLLECTION,
    COUNT,
    NUMBER,
    SEED,
    DataError,
    Kind,
    Seed,
    checked_arguments,
    clone,
    generator,
    spawn_seeds,
)
from verulam.ensemble._members.members import Member, seeded
from verulam.ensemble._members.tables import ColumnSubset

MAPPING = Kind("a dictionary", lambda value: isinstance(value, Mapping))


@checked_arguments(
    estimators=COLLECTION | MAPPING,
    n_states=COUNT,
    n_subsets=COUNT,
    column_share=NUMBER,
    random_state=SEED,
)
def build_pool(
    estimators: Mapping[str, Any] | Sequence[Any],
    *,
    settings: Mapping[str, Mapping[str, Sequence[Any]]] | None = None,
    n_states: int = 1,
    columns: Mapping[str, Any] | None = None,
    n_columns: int | None = None,
    column_share: float = 1.0,
    n_subsets: int = 1,
    random_state: Seed = None,
) -> list[Member]:
    """Return named learners that differ in kind, settings, initial state and columns.

    Parameters
    ----------
    estimators
        Learners by name, or a list of learners.
    settings
        For some names, values of parameters, all combinations of which are made.
    n_states
        How many of each are made with seeds of their own; 1 leaves the seeds alone.
    columns
        Views by name: lists of columns, each of which every learner gets once.
    n_columns
        Number of columns of the table, for random subsets of them.
    column_share
        Share of the columns in a random subset.
    n_subsets
        How many random subsets there are.
    random_state
        Seed of subsets and states.

    Notes
    -----
    Learners should differ in algorithm, hyperparameters, input representation or training set, so
    that they err in different places. Give them to any ensemble; `BaggingClassifier` adds other
    training sets. See Alpaydin 17.2.

    Examples
    --------
    >>> from verulam.ensemble import build_pool
    >>> from verulam.nonparametric import KNeighborsClassifier
    >>> from verulam.tree import DecisionTreeClassifier
    >>> pool = build_pool(
    ...     {"near": KNeighborsClassifier(), "tree": DecisionTreeClassifier()},
    ...     settings={"near": {"n_neighbors": [1, 5]}},
    ...     columns={"petal": [2, 3], "sepal": [0, 1]},
    ... )
    >>> [name for name, _ in pool][:3]
    ['near n_neighbors=1, petal', 'near n_neighbors=1, sepal', 'near n_neighbors=5, petal']
    """
    if not isinstance(estimators, Mapping):
        estimators = {type(learner).__name__: learner for learner in estimators}
    if not estimators:
        raise DataError("estimators is empty: a pool needs one learner or more.")
    unknown = set(settings or {}) - set(estimators)
    if unknown:
        raise DataError(f"settings names {sorted(unknown)[0]!r}, which is not among the learners.")
    random = generator(random_state)
    views = _views(columns, n_columns, column_share, n_subsets, random)
    pool: list[Member] = []
    for kind, learner in estimators.items():
        for values in ParameterGrid(dict((settings or {}).get(kind, {}))):
            words = ", ".join(f"{name}={value}" for name, value in values.items())
            for view_name, view in views.items():
                for number, seed in enumerate(spawn_seeds(random, n_states)):
                    copy = clone(learner).set_params(**values)
                    if n_states > 1:
                        copy = seeded(copy, seed, all_of_them=True)
                    state = f"state {number + 1}" if n_states > 1 else ""
                    parts = [f"{kind} {words}".strip(), view_name, state]
                    made = copy if view is None else make_pipeline(ColumnSubset(view), copy)
                    pool.append((", ".join(part for part in parts if part), made))
    return pool


def _views(
    columns: Mapping[str, Any] | None,
    n_columns: int | None,
    share: float,
    n_subsets: int,
    random: np.random.Generator,
) -> dict[str, Any]:
    if columns is not None:
        return dict(columns)
    if n_columns is None:
        return {"": None}
    count = max(1, round(share * n_columns))
    if not 0 < share <= 1:
        raise DataError(f"column_share={share}: a share lies above 0 and up to 1.")
    return {
        f"columns {number + 1}": np.sort(random.permutation(n_columns)[:count]).tolist()
        for number in range(n_subsets)
    }
