"""Classifiers that decide by many two-class problems, set beforehand or added as needed."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    RANDOM_STATE,
    TABLE,
    TEXT,
    DataError,
    HasMethods,
    Interval,
    Seed,
    StrOptions,
    checked_arguments,
    checked_fit_with_parts,
    generator,
)
from verulam.ensemble._codes.matrices import CODES, check_code, output_code
from verulam.ensemble._members.base import EnsembleClassifier, unit_rows
from verulam.ensemble._members.members import FloatArray, check_weighted, fit_member, seeded
from verulam.ensemble._members.tables import prepared_member, take_rows
from verulam.numerics import softmax
from verulam.tree import DecisionTreeClassifier

DECODINGS = ("sum", "loss", "hamming", "exact")


@checked_arguments(outputs=TABLE, codes=TABLE, decoding=TEXT)
def decode(outputs: ArrayLike, codes: ArrayLike, decoding: str = "sum") -> FloatArray:
    r"""Return how well the outputs of dichotomies suit each class, larger is better.

    Parameters
    ----------
    outputs
        Outputs between -1 and 1, of shape (n_rows, n_columns).
    codes
        Code matrix of shape (n_classes, n_columns).
    decoding
        "sum", :math:`y_i = \sum_j w_{ij} d_j`; "loss", minus the sum of
        :math:`\exp(-w_{ij} d_j)`; "hamming", minus the distance of the signs, where a zero
        counts one half; "exact", 1 for a row whose signs are the code wherever it has no zero.

    Notes
    -----
    See Alpaydin 17.5 (17.6); decoding by a loss is that of Allwein, Schapire and Singer (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import decode, output_code
    >>> codes = output_code(4, "exhaustive")
    >>> flipped = codes[:1].copy()
    >>> flipped[0, 3] *= -1
    >>> decode(flipped, codes)
    array([[ 5.,  1., -3., -3.]])
    """
    if decoding not in DECODINGS:
        raise DataError(f"decoding={decoding!r}: take one of {', '.join(DECODINGS)}.")
    responses, matrix = np.asarray(outputs, dtype=np.float64), np.asarray(codes, dtype=np.float64)
    if decoding == "sum":
        return responses @ matrix.T
    if decoding == "loss":
        # exp(-w d) for w = 1 and -1, and exp(0) for 0: three products instead of a tensor.
        positive, negative = (matrix > 0).T.astype(float), (matrix < 0).T.astype(float)
        return -(
            np.exp(-responses) @ positive + np.exp(responses) @ negative + (matrix == 0).sum(axis=1)
        )
    signs = np.where(responses >= 0, 1.0, -1.0)
    if decoding == "hamming":
        return -(matrix.shape[1] - signs @ matrix.T) / 2.0
    return ((signs @ matrix.T) == np.abs(matrix).sum(axis=1)).astype(np.float64)


class _FromDichotomies(EnsembleClassifier):
    """Teaching and asking two-class learners by the columns of a code."""

    estimator: Any
    decoding: str
    code_: FloatArray
    estimators_: list[Any]
    estimators = None

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return DecisionTreeClassifier(min_samples_leaf=2)

    def _taught(
        self,
        table: Any,
        codes: NDArray[Any],
        weights: FloatArray | None,
        column: FloatArray,
        random: np.random.Generator,
    ) -> Any:
        """Return a learner of the classes with 1 against those with -1."""
        sides = column[codes]
        rows = np.flatnonzero(sides)
        part = table if len(rows) == len(codes) else take_rows(table, rows)
        copy = seeded(prepared_member(self._base(), table), int(random.integers(2**31 - 1)))
        member = (type(self._base()).__name__, copy)
        shares = None if weights is None else weights[rows]
        return fit_member(member, part, (sides[rows] > 0).astype(np.int64), shares)

    def _read_weighted(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[np.intp], FloatArray | None]:
        table, codes, weights = super()._read_weighted(X, y, sample_weight)
        if weights is not None:
            check_weighted([("estimator", self._base())])
        return table, codes, weights

    def _outputs(self, table: Any) -> FloatArray:
        return np.column_stack([_side(learner, table) for learner in self.estimators_])

    def dichotomies(self, X: Any) -> FloatArray:
        """Return what each two-class learner says, between -1 and 1."""
        table = self._checked(X)
        return self._outputs(table)

    def class_scores(self, X: Any) -> FloatArray:
        """Return how well each class's code suits, larger is better."""
        return decode(self.dichotomies(X), self.code_, self.decoding)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the softmax of the scores; of exact matches, the share of each."""
        scores = self.class_scores(X)
        return unit_rows(scores) if self.decoding == "exact" else softmax(scores, axis=1)


def _side(learner: Any, table: Any) -> FloatArray:
    """Return d = 2p - 1, or a bounded score, or a hard decision."""
    if hasattr(learner, "predict_proba"):
        return 2.0 * np.asarray(learner.predict_proba(table))[:, 1] - 1.0
    if hasattr(learner, "decision_function"):
        return np.tanh(np.asarray(learner.decision_function(table), dtype=np.float64))
    return 2.0 * (np.asarray(learner.predict(table)) == 1) - 1.0


class OutputCodeClassifier(_FromDichotomies):
    r"""Tell many classes apart by many two-class problems, with codes that forgive mistakes.

    Parameters
    ----------
    estimator
        Two-class learner; None takes a tree.
    code
        Kind of code as of `output_code`, or a matrix with a row for each class in the order of the
        sorted labels.
    n_columns
        Number of two-class problems of random and optimised codes; None for the usual number.
    decoding
        "sum" of votes, "loss", "hamming" or "exact", as of `decode`.
    random_state
        Seed of the code, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    code_ : ndarray of shape (n_classes, n_columns)
        The code: 1, -1, and 0 for a class that takes no part.
    estimators_ : list
        The two-class learners; their label 1 stands for the classes with 1.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    .. math:: y_i = \sum_j w_{ij} d_j, \qquad d_j = 2 p_j - 1

    With the codes "one_vs_all" and "one_vs_one" it is the usual separation of each class, or of
    each pair. See Alpaydin 17.5 (17.6).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import OutputCodeClassifier
    >>> digits = dataset("digits")
    >>> train, test = slice(0, 1200), slice(1200, None)
    >>> for code in ("one_vs_all", "optimised"):
    ...     machine = OutputCodeClassifier(code=code, random_state=0)
    ...     machine = machine.fit(digits.inputs[train], digits.target_values[train])
    ...     print(code, round(machine.score(digits.inputs[test], digits.target_values[test]), 2))
    one_vs_all 0.77
    optimised 0.91
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "code": [StrOptions(set(CODES)), "array-like"],
        "n_columns": [Interval(Integral, 1, None, closed="left"), None],
        "decoding": [StrOptions(set(DECODINGS))],
        "random_state": RANDOM_STATE,
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(DecisionTreeClassifier(max_depth=4))]

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: str | ArrayLike = "one_vs_all",
        n_columns: int | None = None,
        decoding: str = "sum",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.n_columns = n_columns
        self.decoding = decoding
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach a learner for each column of the code.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        random = generator(self.random_state)
        n_classes = len(self.classes_)
        if isinstance(self.code, str):
            self.code_ = output_code(
                n_classes, self.code, n_columns=self.n_columns, random_state=random
            )
        else:
            self.code_ = check_code(self.code, n_classes)
        self.estimators_ = [
            self._taught(table, codes, weights, column, random) for column in self.code_.T
        ]
        self.evaluations_ = float(len(self.estimators_))
        return self


class IncrementalCodeClassifier(_FromDichotomies):
    r"""Add two-class problems where classes are still confused.

    Parameters
    ----------
    estimator
        Two-class learner; None takes a tree.
    code
        Kind of code to begin with, as of `output_code`, or a matrix.
    max_columns
        Most two-class problems that are added.
    learn_code
        Whether the entries of the code are learned from the outputs, by least squares; they are
        then no longer -1, 0 and 1.
    decoding
        "sum" of votes, "loss", "hamming" or "exact", as of `decode`.
    random_state
        Seed of the code, and of members that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    code_ : ndarray of shape (n_classes, n_columns)
        The code.
    estimators_ : list
        The two-class learners.
    errors_ : ndarray
        Training error with the first code and after each column that was added; it never grows.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    The pair of classes with the most confusions on the training rows is separated by one more
    learner; the other classes take the side on which most of their rows already lie, or no part. A
    column that does not lessen the errors is dropped, and the next pair is tried, until there are
    no errors or no pairs. Learned entries are those of :math:`\min_W \sum_t \| r^t - W d^t \|^2`.
    See Alpaydin 17.12 and 17.13, exercise 3 (Mayoraz and Moreira 1997, Alpaydin and Mayoraz 1999).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import IncrementalCodeClassifier
    >>> from verulam.linear import MinimumSquaredError
    >>> iris = dataset("iris")
    >>> machine = IncrementalCodeClassifier(MinimumSquaredError())
    >>> machine.fit(iris.inputs, iris.target_values).errors_.round(3)
    array([0.153, 0.06 , 0.047, 0.027, 0.02 ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "code": [StrOptions(set(CODES)), "array-like"],
        "max_columns": [Interval(Integral, 0, None, closed="left")],
        "learn_code": ["boolean"],
        "decoding": [StrOptions(set(DECODINGS))],
        "random_state": RANDOM_STATE,
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(DecisionTreeClassifier(max_depth=4))]

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: str | ArrayLike = "one_vs_all",
        max_columns: int = 20,
        learn_code: bool = False,
        decoding: str = "sum",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.max_columns = max_columns
        self.learn_code = learn_code
        self.decoding = decoding
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Teach the first code, then add columns where classes are confused.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        random = generator(self.random_state)
        n_classes = len(self.classes_)
        matrix = (
            output_code(n_classes, self.code, random_state=random)
            if isinstance(self.code, str)
            else check_code(self.code, n_classes)
        )
        self.estimators_ = [
            self._taught(table, codes, weights, column, random) for column in matrix.T
        ]
        outputs, counts = self._outputs(table), np.ones(len(codes)) if weights is None else weights
        errors = [self._error(outputs, matrix, codes, counts)]
        tried: set[tuple[int, int]] = set()
        while errors[-1] > 0 and len(errors) <= self.max_columns:
            pair = self._most_confused(outputs, matrix, codes, counts, tried)
            if pair is None:
                break
            tried.add(pair)
            column = np.zeros(n_classes)
            column[list(pair)] = 1.0, -1.0
            learner = self._taught(table, codes, weights, column, random)
            side = _side(learner, table)
            trials = [column, _with_others(column, side, codes, counts)]
            wider = np.column_stack([outputs, side])
            # The other classes may stay out of the new column, or take the side where they lie.
            scores = [
                self._error(wider, np.column_stack([matrix, one]), codes, counts) for one in trials
            ]
            if min(scores) < errors[-1]:
                matrix = np.column_stack([matrix, trials[int(np.argmin(scores))]])
                outputs = wider
                self.estimators_.append(learner)
                errors.append(min(scores))
                # With another code other classes are confused: all pairs may be tried again.
                tried.clear()
        self.errors_ = np.array(errors)
        self.code_ = self._entries(outputs, matrix, codes, counts)
        self.evaluations_ = float(len(self.estimators_))
        return self

    def _entries(
        self, outputs: FloatArray, matrix: FloatArray, codes: NDArray[Any], counts: FloatArray
    ) -> FloatArray:
        """Return the code itself, or entries by least squares on class indicators."""
        if not self.learn_code:
            return matrix
        indicators = 2.0 * np.eye(len(matrix))[codes] - 1.0
        # Rows times the roots of their weights: plain least squares is then the weighted one.
        roots = np.sqrt(counts)[:, None]
        return np.linalg.lstsq(roots * outputs, roots * indicators, rcond=None)[0].T

    def _error(
        self, outputs: FloatArray, matrix: FloatArray, codes: NDArray[Any], counts: FloatArray
    ) -> float:
        entries = self._entries(outputs, matrix, codes, counts)
        wrong = decode(outputs, entries, self.decoding).argmax(axis=1) != codes
        return float(np.average(wrong, weights=counts))

    def _most_confused(
        self,
        outputs: FloatArray,
        matrix: FloatArray,
        codes: NDArray[Any],
        counts: FloatArray,
        tried: set,
    ) -> tuple[int, int] | None:
        """Return the pair of classes with the most confusions both ways that was not tried."""
        entries = self._entries(outputs, matrix, codes, counts)
        answers = decode(outputs, entries, self.decoding).argmax(axis=1)
        n_classes = len(matrix)
        table = np.bincount(codes * n_classes + answers, counts, n_classes**2)
        both = table.reshape(n_classes, n_classes)
        both = np.triu(both + both.T, k=1)
        for place in np.argsort(-both, axis=None, kind="stable"):
            pair = (int(place) // n_classes, int(place) % n_classes)
            if both[pair] == 0:
                return None
            if pair not in tried:
                return pair
        return None


def _with_others(
    column: FloatArray, side: FloatArray, codes: NDArray[Any], counts: FloatArray
) -> FloatArray:
    """Return the column with the classes that had no part on the side where most of them lie."""
    totals = np.bincount(codes, counts, len(column))
    means = np.bincount(codes, counts * np.sign(side), len(column)) / np.maximum(totals, 1e-300)
    # A mean of signs beyond a half has three quarters of the class on one side.
    clear = np.where(np.abs(means) > 0.5, np.sign(means), 0.0)
    return np.where(column == 0, clear, column)
