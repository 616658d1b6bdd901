"""Members and what they say: clones with seeds, and one tensor of outputs, out of fold if asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from verulam.base import (
    COLLECTION,
    NONE,
    SEED,
    TEXT,
    VECTOR,
    WHOLE,
    DataError,
    Kind,
    Seed,
    array_of_numbers,
    as_frame,
    checked_arguments,
    encode_classes,
    generator,
    has_fit_parameter,
    is_classifier,
    is_regressor,
    numeric_targets,
    spawn_seeds,
    whole_trainings,
)
from verulam.ensemble._members.tables import prepared_member, take_rows

Member = tuple[str, Any]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MemberOutputs:
    """What all members say about all rows.

    Attributes
    ----------
    values : ndarray of shape (n_members, n_rows, n_outputs)
        Votes for each class, or one number for each row.
    names
        Names of the members.
    classes : ndarray or None
        Labels of the classes; None in regression.
    """

    values: FloatArray
    names: tuple[str, ...]
    classes: NDArray[Any] | None = None

    @property
    def labels(self) -> NDArray[Any]:
        """The class that each member votes for most, of shape (n_members, n_rows)."""
        if self.classes is None:
            raise DataError("Outputs of regressors have no labels.")
        return self.classes[self.values.argmax(axis=2)]

    @property
    def features(self) -> FloatArray:
        """The outputs as a table: one row for each row, all outputs of all members beside."""
        n_members, n_rows, n_outputs = self.values.shape
        return self.values.transpose(1, 0, 2).reshape(n_rows, n_members * n_outputs)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of `features`."""
        if self.classes is None:
            return list(self.names)
        return [f"{name}: {label}" for name in self.names for label in self.classes]

    def of(self, members: Sequence[int] | NDArray[Any]) -> "MemberOutputs":
        """Return the outputs of some members, by position."""
        places = np.asarray(members, dtype=np.intp)
        names = tuple(self.names[place] for place in places)
        return replace(self, values=self.values[places], names=names)


#: Kinds of arguments: outputs as a record, or as numbers too; weights of rows or of members.
OUTPUTS = Kind("`MemberOutputs`", lambda value: isinstance(value, MemberOutputs))
OUTPUT_NUMBERS = OUTPUTS | array_of_numbers(
    words="finite numbers of members by rows, or by rows and classes", empty=True
)
TARGETS = Kind("a vector of labels or numbers", lambda value: np.ndim(np.asarray(value)) == 1)
WEIGHTS = VECTOR | NONE


def named_members(estimators: Any, task: str, defaults: Callable[[], list[Member]]) -> list[Member]:
    """Return (name, learner) of all members; two of the same name are numbered."""
    if estimators is None:
        return defaults()
    if not len(estimators):
        raise DataError("estimators is empty: an ensemble needs one learner or more.")
    suits = is_classifier if task == "classification" else is_regressor
    members: list[Member] = []
    taken: set[str] = set()
    for item in estimators:
        is_pair = isinstance(item, tuple | list) and len(item) == 2
        name, learner = item if is_pair else (type(item).__name__, item)
        if is_pair and (name in taken or "__" in str(name)):
            wrong = "names two members" if name in taken else "has two underscores in a row"
            raise DataError(f"estimators: {name!r} {wrong}; members are set by their names.")
        if isinstance(learner, str):
            raise DataError(
                f"estimators: {learner!r} is a name and not a learner; "
                f"verulam.learner({learner!r}) makes one."
            )
        if not hasattr(learner, "fit") or isinstance(learner, type) or not suits(learner):
            raise DataError(
                f"estimators: member {name!r} ({_kind(learner)}) cannot do {task}; "
                f"all members must be {'classifiers' if suits is is_classifier else 'regressors'}."
            )
        unique, number = str(name), 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        taken.add(unique)
        members.append((unique, learner))
    return members


def _kind(learner: Any) -> str:
    return learner.__name__ if isinstance(learner, type) else type(learner).__name__


def seeded(estimator: Any, seed: int, *, all_of_them: bool = False) -> Any:
    """Return the learner with seeds in its `random_state`: where it is None, or everywhere."""
    names = [
        name
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
    current = estimator.get_params(deep=True)
    free = [name for name in names if all_of_them or current[name] is None]
    seeds = spawn_seeds(seed, len(free))
    return estimator.set_params(**dict(zip(free, seeds, strict=True))) if free else estimator


def prepared_members(
    members: Sequence[Member], table: Any, random_state: Seed, weights: FloatArray | None = None
) -> list[Member]:
    """Return unfitted clones that can use table and weights, with seeds where they have none."""
    if weights is not None:
        check_weighted(members)
    seeds = spawn_seeds(random_state, len(members))
    return [
        (name, seeded(prepared_member(learner, table), seed))
        for (name, learner), seed in zip(members, seeds, strict=True)
    ]


def takes_weights(estimator: Any) -> bool:
    """Tell whether a learner, or the last step of a pipeline, takes weights of rows."""
    if isinstance(estimator, Pipeline):
        return takes_weights(estimator.steps[-1][1])
    # An ensemble takes them if all its members do.
    parts_take = getattr(estimator, "_takes_weights", lambda: True)
    return has_fit_parameter(estimator, "sample_weight") and parts_take()


def check_weighted(members: Sequence[Member]) -> None:
    """Refuse weights of rows where some member takes none."""
    for name, learner in members:
        if not takes_weights(learner):
            raise DataError(
                f"sample_weight: member {name!r} ({_kind(_last_step(learner))}) takes no weights "
                "of rows; leave the weights out, or take another member."
            )


def _last_step(estimator: Any) -> Any:
    return _last_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


def weight_argument(estimator: Any, weights: FloatArray | None) -> dict[str, FloatArray]:
    """Return what `fit` of a learner is given so that it, or all steps that can, weigh the rows."""
    if weights is None:
        return {}
    return dict.fromkeys(_weight_names(estimator), weights)


def _weight_names(estimator: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(estimator, Pipeline):
        for step, part in estimator.steps:
            yield from _weight_names(part, f"{prefix}{step}__")
    elif hasattr(estimator, "fit") and has_fit_parameter(estimator, "sample_weight"):
        yield f"{prefix}sample_weight"


@whole_trainings()
def fit_member(
    member: Member,
    table: Any,
    targets: NDArray[Any],
    weights: FloatArray | None = None,
    where: str = "",
) -> Any:
    """Return the member after `fit`; whatever goes wrong is told with its name."""
    name, estimator = member
    try:
        return estimator.fit(table, targets, **weight_argument(estimator, weights))
    except Warning:
        raise
    except Exception as error:
        raise DataError(f"Member {name!r} could not be fitted{where}: {error}") from error


def fit_members(
    members: Sequence[Member], table: Any, targets: NDArray[Any], weights: FloatArray | None = None
) -> list[Member]:
    """Return all members after `fit`, with their names."""
    return [(name, fit_member((name, part), table, targets, weights)) for name, part in members]


def class_outputs(
    estimator: Any, table: Any, classes: NDArray[Any], kind: str = "probabilities"
) -> FloatArray:
    """Return the votes of one member for each class, of shape (n_rows, n_classes).

    Probabilities, or scores of a `decision_function`, where they are asked for and there are any;
    otherwise a full vote for the label. A class that the member has not seen gets none.
    """
    method = "predict_proba" if kind == "probabilities" else "decision_function"
    if kind == "labels" or not hasattr(estimator, method):
        answers = pd.Index(classes).get_indexer(pd.Index(np.asarray(estimator.predict(table))))
        # An answer that is no class, such as a refusal, is a vote for none.
        return (answers[:, None] == np.arange(len(classes))).astype(np.float64)
    values = np.asarray(getattr(estimator, method)(table), dtype=np.float64)
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    labels = np.asarray(estimator.classes_)
    if np.array_equal(labels, classes):
        return values
    known = pd.Index(classes).get_indexer(pd.Index(labels))
    spread = np.zeros((len(values), len(classes)))
    spread[:, known] = values
    return spread


def outputs_of(
    members: Sequence[Member],
    table: Any,
    classes: NDArray[Any] | None,
    kind: str = "probabilities",
) -> MemberOutputs:
    """Return what fitted members say about a table."""
    if classes is None:
        layers = [np.asarray(learner.predict(table), dtype=np.float64) for _, learner in members]
        values = np.stack(layers)[:, :, None]
    else:
        values = np.stack([class_outputs(learner, table, classes, kind) for _, learner in members])
    return MemberOutputs(values, tuple(name for name, _ in members), classes)


def fold_numbers(codes: NDArray[Any] | None, n_rows: int, folds: int, seed: Seed) -> NDArray[Any]:
    """Return the fold of each row, drawn at random, the classes shared out evenly."""
    if n_rows < 2:
        raise DataError(f"n_samples={n_rows}: cross-validation needs two rows or more.")
    order = generator(seed).permutation(n_rows)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    numbers = np.empty(n_rows, dtype=np.intp)
    numbers[order] = np.arange(n_rows) % min(folds, n_rows)
    return numbers


def cross_outputs(
    members: Sequence[Member],
    table: Any,
    targets: NDArray[Any],
    numbers: NDArray[Any],
    classes: NDArray[Any] | None,
    kind: str = "probabilities",
    weights: FloatArray | None = None,
) -> MemberOutputs:
    """Return what members say about rows that they were not taught with, fold by fold."""
    n_outputs = 1 if classes is None else len(classes)
    values = np.zeros((len(members), len(targets), n_outputs))
    for fold in range(int(numbers.max()) + 1):
        inside, outside = np.flatnonzero(numbers == fold), np.flatnonzero(numbers != fold)
        part, held_out = take_rows(table, outside), take_rows(table, inside)
        shares = None if weights is None else weights[outside]
        for place, (name, learner) in enumerate(members):
            ready = fit_member(
                (name, prepared_member(learner, part)), part, targets[outside], shares,
                f" without fold {fold + 1} of {int(numbers.max()) + 1}",
            )  # fmt: skip
            values[place, inside] = outputs_of([(name, ready)], held_out, classes, kind).values[0]
    return MemberOutputs(values, tuple(name for name, _ in members), classes)


@checked_arguments(estimators=COLLECTION, y=TARGETS, folds=WHOLE, outputs=TEXT, random_state=SEED)
def out_of_fold_outputs(
    estimators: Sequence[Any],
    X: Any,
    y: ArrayLike,
    *,
    folds: int = 5,
    outputs: str = "probabilities",
    random_state: Seed = None,
) -> MemberOutputs:
    r"""Return what learners say about each row when they were taught without its fold.

    Parameters
    ----------
    estimators
        Classifiers, or regressors: learners or pairs of name and learner.
    X
        Inputs.
    y
        Labels, or numbers.
    folds
        Folds of the cross-validation, 2 or more.
    outputs
        "probabilities" where a classifier has them, "scores" of its `decision_function`, or
        "labels".
    random_state
        Seed of the folds, and of the learners that have none.

    Notes
    -----
    The table :math:`d_j(x^t)` of stacked generalisation: whatever is trained on it sees the
    members as they are on new data. See Alpaydin 17.9 and Bartkowiak 7.5.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import out_of_fold_outputs
    >>> from verulam.parametric import NaiveBayes
    >>> from verulam.tree import DecisionTreeClassifier
    >>> iris = dataset("iris")
    >>> members = [NaiveBayes(), DecisionTreeClassifier()]
    >>> said = out_of_fold_outputs(members, iris.inputs, iris.target_values, random_state=0)
    >>> said.values.shape, said.names
    ((2, 150, 3), ('NaiveBayes', 'DecisionTreeClassifier'))
    """
    if folds < 2:
        raise DataError(f"folds={folds}: cross-validation needs two or more.")
    if outputs not in ("probabilities", "scores", "labels"):
        raise DataError(f"outputs={outputs!r}: take 'probabilities', 'scores' or 'labels'.")
    is_class = len(estimators) > 0 and is_classifier(
        estimators[0][1] if isinstance(estimators[0], tuple | list) else estimators[0]
    )
    task = "classification" if is_class else "regression"
    members = named_members(estimators, task, list)
    table = X if isinstance(X, pd.DataFrame) else as_frame(X).to_numpy(dtype=np.float64)
    codes, classes = encode_classes(out_of_fold_outputs, y) if is_class else (None, None)
    targets = numeric_targets(out_of_fold_outputs, y) if classes is None else classes[codes]
    if len(targets) != len(table):
        raise DataError(f"X has {len(table)} rows and y {len(targets)}; they must be as many.")
    seeds = spawn_seeds(random_state, 2)
    numbers = fold_numbers(codes, len(targets), folds, seeds[0])
    ready = prepared_members(members, table, seeds[1])
    return cross_outputs(ready, table, targets, numbers, classes, outputs)
