"""Searches for a subset of columns: forward, backward, floating and exhaustive."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, get_tags

from verulam.base import (
    DataError,
    HasMethods,
    Interval,
    MetaEstimatorMixin,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    is_classifier,
    validate_data,
)
from verulam.reduction._selection.column_scores import (
    AddedScores,
    RefittedScores,
    SubsetScores,
    changed,
    column_gaussians,
)

#: Subsets that an exhaustive search looks at without a word of protest.
MOST_SUBSETS = 100_000
#: Subsets of an exhaustive search that are scored at once.
BLOCK = 256
Subset = tuple[int, ...]


@dataclass(frozen=True)
class SearchStep:
    """A step of a search.

    Attributes
    ----------
    action
        "add", "drop", "start" with all columns, or "all" for the best of all subsets of a size.
    column
        Position of the column that joined or left; None for neither.
    subset
        Positions of the columns after the step.
    scores
        Score of the subset in each split.
    """

    action: str
    column: int | None
    subset: Subset
    scores: np.ndarray


@dataclass
class SearchPath:
    """The subsets that a search went through, and the best of each size.

    Attributes
    ----------
    scores
        Gives the score of a subset in every split.
    steps
        What was done, in order.
    best
        Best mean score and subset by size.
    """

    scores: SubsetScores
    steps: list[SearchStep] = field(default_factory=list)
    best: dict[int, tuple[float, Subset]] = field(default_factory=dict)

    def record(self, action: str, column: int | None, subset: Subset, scores: np.ndarray) -> None:
        """Note a step."""
        self.steps.append(SearchStep(action, column, subset, scores))
        self.offer(subset, float(scores.mean()))

    def offer(self, subset: Subset, score: float) -> None:
        """Note a subset if no better one of its size is known."""
        if score > self.best.get(len(subset), (-np.inf, ()))[0]:
            self.best[len(subset)] = (score, subset)

    def best_neighbour(
        self, subset: Subset, columns: list[int], *, add: bool
    ) -> tuple[int, Subset, np.ndarray]:
        """Return the column whose change is best, the first of equals, and what it leads to."""
        scores = self.scores.of_neighbours(subset, columns, add=add)
        place = int(scores.mean(axis=1).argmax())
        return columns[place], changed(subset, columns[place], add=add), scores[place]


def forward(path: SearchPath, fixed: Subset, n_columns: int, size: int, tol: float | None) -> None:
    """Add the column that helps most, one after the other."""
    subset, score = fixed, -np.inf
    while len(subset) < size:
        absent = [column for column in range(n_columns) if column not in subset]
        column, subset, scores = path.best_neighbour(subset, absent, add=True)
        if tol is not None and scores.mean() - score < tol and len(subset) > len(fixed) + 1:
            return
        path.record("add", column, subset, scores)
        score = float(scores.mean())


def backward(path: SearchPath, fixed: Subset, n_columns: int, size: int, tol: float | None) -> None:
    """Leave out the column that is missed least, one after the other."""
    subset = tuple(range(n_columns))
    scores = path.scores.of_subsets([subset])[0]
    path.record("start", None, subset, scores)
    score = float(scores.mean())
    while len(subset) > max(size, 1):
        present = [column for column in subset if column not in fixed]
        column, subset, scores = path.best_neighbour(subset, present, add=False)
        if tol is not None and scores.mean() - score < -tol:
            return
        path.record("drop", column, subset, scores)
        score = float(scores.mean())


def floating(path: SearchPath, fixed: Subset, n_columns: int, size: int, tol: float | None) -> None:
    """Add columns one after the other; after each, leave out those that are not needed any more.

    Plain forward steps come first, so that no size ends worse than with them; `tol` ends them.
    """
    forward(path, fixed, n_columns, size, tol)
    size = max(path.best)
    subset = fixed
    while len(subset) < size:
        absent = [column for column in range(n_columns) if column not in subset]
        column, subset, scores = path.best_neighbour(subset, absent, add=True)
        if scores.mean() >= path.best[len(subset)][0]:
            path.record("add", column, subset, scores)
        else:
            subset = path.best[len(subset)][1]
        subset = _shrink(path, subset, fixed)


def _shrink(path: SearchPath, subset: Subset, fixed: Subset) -> Subset:
    """Leave columns out as long as that beats every subset of that size so far."""
    while len(subset) > len(fixed) + 1:
        present = [column for column in subset if column not in fixed]
        column, smaller, scores = path.best_neighbour(subset, present, add=False)
        # A gain beyond rounding: else the same subsets would come round again.
        known = path.best.get(len(smaller), (-np.inf, ()))[0]
        if scores.mean() <= known + 1e-12 * max(1.0, abs(known)):
            break
        subset = smaller
        path.record("drop", column, subset, scores)
    return subset


def exhaustive(
    path: SearchPath, fixed: Subset, n_columns: int, sizes: Iterable[int], n_subsets: int
) -> None:
    """Look at all subsets of the sizes."""
    if n_subsets > MOST_SUBSETS:
        raise DataError(
            f"search='exhaustive': there are {n_subsets:,} subsets, more than {MOST_SUBSETS:,}; "
            "take 'floating', or fewer columns."
        )
    free = [column for column in range(n_columns) if column not in fixed]
    for size in sizes:
        subsets = [
            tuple(sorted((*fixed, *added))) for added in combinations(free, size - len(fixed))
        ]
        winner: tuple[Subset, np.ndarray] | None = None
        for start in range(0, len(subsets), BLOCK):
            block = subsets[start : start + BLOCK]
            scores = path.scores.of_subsets(block)
            place = int(scores.mean(axis=1).argmax())
            if winner is None or scores[place].mean() > winner[1].mean():
                winner = block[place], scores[place]
        assert winner is not None
        path.record("all", None, *winner)


class SubsetSelector(MetaEstimatorMixin, SelectorMixin, Transformer):
    r"""Choose few of the columns by the cross-validated score of a learner.

    Parameters
    ----------
    estimator
        The learner that the columns are chosen for.
    n_features_to_select
        Number of columns, or their share; None takes the size that scores best.
    search
        "forward" adds columns one by one, "backward" leaves them out, "floating" adds and takes
        back, "exhaustive" looks at all subsets.
    scoring
        Name of a score or a function, as in `sklearn.model_selection.cross_val_score`; None for
        that of the learner.
    cv
        Folds, or what draws splits.
    fixed_columns
        Columns, by name or position, that stay in every subset.
    tol
        Gain at which a forward search goes on, loss at which a backward search ends; None goes
        all the way.
    n_jobs
        Processes that subsets are shared among, where the learner has to be fitted to each.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Whether each column was chosen.
    n_features_to_select_ : int
        Number of columns that were chosen.
    score_ : float
        Mean score of the chosen columns over the splits.
    steps_ : tuple of SearchStep
        Every step; `path_` shows them as a table.
    best_ : dict
        Score and subset that are best of each size; `best_subsets_` shows them as a table.
    is_additive_ : bool
        Whether scores were summed over columns instead of fitting the learner to every subset.

    Notes
    -----
    There are :math:`2^d` subsets of :math:`d` columns. Forward selection looks at
    :math:`O(k d)` of them and never takes a column back; floating search does [pudil1994]_. For
    naive Bayes on numbers the logarithms of posteriors are sums over columns, so each split is
    fitted once and the search only adds. The score of the winner is the best of many, and so too
    good: judge the chosen columns on rows that the search has not seen. See SIT1305 II.

    .. [pudil1994] P. Pudil, J. Novovicova and J. Kittler, "Floating search methods in feature
       selection", Pattern Recognition Letters 15, 1119-1125, 1994.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from verulam.data import dataset
    >>> from verulam.reduction import SubsetSelector
    >>> wine = dataset("wine")
    >>> selector = SubsetSelector(GaussianNB(), 3).fit(wine.inputs, wine.target_values)
    >>> selector.path_[["action", "column", "score"]].round(3)
      action             column  score
    0    add         flavanoids  0.793
    1    add            alcohol  0.911
    2    add  alcalinity_of_ash  0.939
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit"])],
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "search": [StrOptions({"forward", "backward", "floating", "exhaustive"})],
        "scoring": [str, callable, None],
        "cv": ["cv_object"],
        "fixed_columns": ["array-like"],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any,
        n_features_to_select: int | float | None = None,
        *,
        search: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        fixed_columns: Any = (),
        tol: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.search = search
        self.scoring = scoring
        self.cv = cv
        self.fixed_columns = fixed_columns
        self.tol = tol
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.categorical = inner.input_tags.categorical
        tags.target_tags.required = inner.target_tags.required
        return tags

    @checked_fit_with_parts
    def fit(self, X: Any, y: Any = None) -> Self:
        """Search for the columns."""
        inputs = self._inputs(X)
        n_columns = self.n_features_in_
        size = self._size(n_columns)
        fixed = self._fixed(X, size)
        targets = self._targets(y, inputs.shape[0])
        scores = self._scores(inputs, targets)
        path = SearchPath(scores)
        if fixed:
            path.offer(fixed, float(scores.of_subsets([fixed]).mean()))
        if self.search == "exhaustive":
            sizes = [size] if size else range(max(len(fixed), 1), n_columns + 1)
            free = n_columns - len(fixed)
            n_subsets = sum(comb(free, subset_size - len(fixed)) for subset_size in sizes)
            exhaustive(path, fixed, n_columns, sizes, n_subsets)
        else:
            walk = {"forward": forward, "backward": backward, "floating": floating}[self.search]
            end = size or (n_columns if self.search != "backward" else max(len(fixed), 1))
            walk(path, fixed, n_columns, end, self.tol)
        self.is_additive_ = isinstance(scores, AddedScores)
        self._store(path, size)
        return self

    def _inputs(self, X: Any) -> Any:
        tags = self.__sklearn_tags__().input_tags
        if isinstance(X, pd.DataFrame) and tags.categorical:
            validate_data(self, X, skip_check_array=True)
            return X
        return validate_data(
            self,
            X,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )

    def _targets(self, y: Any, n_rows: int) -> np.ndarray | None:
        if y is None:
            if get_tags(self.estimator).target_tags.required:
                raise DataError(
                    "requires y to be passed, but the target y is None: the learner needs it."
                )
            return None
        targets = np.asarray(y)
        if len(targets) != n_rows:
            raise DataError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {n_rows} rows and y has {len(targets)}."
            )
        return targets

    def _size(self, n_columns: int) -> int | None:
        size = self.n_features_to_select
        if size is None:
            return None
        if size < 1:
            return max(1, int(size * n_columns))
        if size > n_columns:
            raise DataError(
                f"n_features_to_select={size}: there are at most as many as columns, and X has "
                f"n_features={n_columns}."
            )
        return int(size)

    def _fixed(self, X: Any, size: int | None) -> Subset:
        names = list(getattr(X, "columns", range(self.n_features_in_)))
        fixed = []
        for column in self.fixed_columns:
            if column in names:
                fixed.append(names.index(column))
            elif isinstance(column, int | np.integer) and 0 <= column < len(names):
                fixed.append(int(column))
            else:
                raise DataError(
                    f"fixed_columns: X has no column {column!r}; accepted are names of columns, or "
                    f"positions from 0 to {len(names) - 1}."
                )
        if size is not None and len(set(fixed)) > size:
            raise DataError(
                f"fixed_columns names {len(set(fixed))} columns, more than "
                f"n_features_to_select={size}."
            )
        return tuple(sorted(set(fixed)))

    def _scores(self, inputs: Any, y: Any) -> SubsetScores:
        folds = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        try:
            splits = list(folds.split(inputs, y))
        except ValueError as error:
            raise DataError(f"cv={self.cv!r} does not suit the data: {error}") from None
        scoring = self.scoring
        parts = column_gaussians(self.estimator, inputs, y, splits)
        if parts is not None:
            plain = scoring in (None, "accuracy")
            return AddedScores(
                parts, None if plain else check_scoring(clone(self.estimator), scoring)
            )
        return RefittedScores(self.estimator, inputs, y, splits, scoring, self.n_jobs)

    def _store(self, path: SearchPath, size: int | None) -> None:
        self.steps_ = tuple(path.steps)
        self.best_ = dict(sorted(path.best.items()))
        # The smallest of equals; a search that stopped early ends with the best that it reached.
        score, subset = max(self.best_.values(), key=lambda best: best[0])
        if size is not None and size in path.best:
            score, subset = path.best[size]
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[list(subset)] = True
        self.score_ = score
        self.n_features_to_select_ = len(subset)

    @property
    def path_(self) -> pd.DataFrame:
        """Every step: what was done, to which column; size, score and columns of the subset."""
        check_is_fitted(self)
        names = self._names()
        rows = [
            {
                "action": step.action,
                "column": None if step.column is None else names[step.column],
                "n_columns": len(step.subset),
                "score": float(step.scores.mean()),
                "spread": float(step.scores.std(ddof=1)) if len(step.scores) > 1 else np.nan,
                "columns": tuple(names[position] for position in step.subset),
            }
            for step in self.steps_
        ]
        return pd.DataFrame(rows)

    @property
    def best_subsets_(self) -> pd.DataFrame:
        """The best subset of each size that the search met, with its score."""
        check_is_fitted(self)
        names = self._names()
        rows = [
            {
                "n_columns": size,
                "score": score,
                "columns": tuple(names[position] for position in subset),
            }
            for size, (score, subset) in self.best_.items()
        ]
        return pd.DataFrame(rows).set_index("n_columns")

    def _names(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    @classmethod
    def _example_learners(cls) -> list["SubsetSelector"]:
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import NearestCentroid

        return [cls(GaussianNB(), cv=3), cls(NearestCentroid(), search="floating", cv=2)]
