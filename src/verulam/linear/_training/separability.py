"""Linear separability by linear programming, with a certificate (Farkas' lemma)."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from verulam.base import DataError
from verulam.linear._training.scaling import scale_columns
from verulam.linear._training.tables import check_labels, check_margins, check_rows, is_sparse
from verulam.linear._tuning import MANY_SLACKS

#: In scaled columns, mixtures of two classes that differ by less are the same point.
_ROUNDING = 2e-14
#: In scaled columns, a product beyond this part of the weights has a sign of its own.
_SMALLEST_PRODUCT = 1e-14
#: A certificate is solved for exactly where its rows have at most so many numbers.
_MOST_TO_POLISH = 4_000_000


@dataclass(frozen=True)
class Separability:
    r"""Whether a plane separates two classes, with the proof.

    Attributes
    ----------
    separable
        The answer, or None where the difference is of the size of rounding or the solver failed.
    weights, bias
        A plane: of separable classes one that separates them.
    shortfall
        Least :math:`\tau` with :math:`a^T y_i + \tau \ge b_i`; zero where separable, and not a
        number where the solver failed.
    margin
        Distance of the nearest row from the plane; zero where not separable.
    certificate : ndarray of shape (n_rows,) or None
        Where not separable: shares, summing to one within each class, such that the mixtures of
        the two classes are the same point. No plane can have that point on both sides.
        Where the answer is None the points are nearly the same.

    Examples
    --------
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> exclusive_or = separability(corners, [0, 1, 1, 0])
    >>> exclusive_or.separable, exclusive_or.certificate
    (False, array([0.5, 0.5, 0.5, 0.5]))
    """

    separable: bool | None
    weights: np.ndarray
    bias: float
    shortfall: float
    margin: float
    certificate: np.ndarray | None

    def __bool__(self) -> bool:
        return self.separable is True


@dataclass(frozen=True)
class ProgramSolution:
    """Solution of a linear program over augmented weights.

    Attributes
    ----------
    weights
        Bias and weights.
    slacks
        Shortfall of each row, or the one shared by all.
    dual
        Multiplier of each row's inequality, not negative.
    objective
        Value of the program.
    """

    weights: np.ndarray
    slacks: np.ndarray
    dual: np.ndarray
    objective: float


def separability(X: Any, y: ArrayLike, *, margins: ArrayLike | None = None) -> Separability:
    r"""Decide by a linear program whether one plane separates two classes.

    Parameters
    ----------
    X
        Rows, dense or sparse.
    y
        Two classes; the plane is positive for the second in sorted order.
    margins
        Positive number :math:`b_i` that the plane has to reach at each row, 1 where it is None.
        They do not change the answer, but which of many planes is found.

    Notes
    -----
    The program minimises :math:`\tau \ge 0` subject to :math:`a^T y_i + \tau \ge b_i` over the
    sign-normalised rows; its dual is the certificate. It is solved in centred and scaled columns,
    and both answers are checked there: a plane must have every row on its side, and a certificate
    must give the same point of both classes to within rounding. See Bartkowiak 5.8.1 (5.15) and
    Alpaydin 10.3.2.
    """
    inputs, signs = _two_classes(X, y)
    bounds = np.ones(len(signs)) if margins is None else check_margins(margins, len(signs))
    columns = scale_columns(inputs)
    rows = _signed_rows(columns.values, signs)
    # The solver's tolerances are those of numbers about 1.
    unit = float(bounds.max())
    try:
        solution = shared_slack_program(rows, bounds / unit)
    except DataError:
        nothing = np.zeros(inputs.shape[1])
        return Separability(None, nothing, 0.0, np.nan, 0.0, None)
    plane = unit * columns.original(solution.weights)
    # Neither answer is taken from the solver: the plane, or the certificate, is checked itself.
    products = rows @ solution.weights
    if products.min() > _SMALLEST_PRODUCT * np.abs(solution.weights).sum():
        # The largest weight first: its square may overflow, or vanish.
        largest = float(np.abs(plane[1:]).max())
        margin = float(unit * products.min() / largest / np.linalg.norm(plane[1:] / largest))
        return Separability(True, plane[1:], float(plane[0]), 0.0, margin, None)
    shares, distance = _certificate(rows, solution.dual)
    proved = distance <= _ROUNDING
    return Separability(
        False if proved else None,
        plane[1:],
        float(plane[0]),
        unit * solution.objective,
        0.0,
        shares,
    )


def _certificate(rows: Any, dual: np.ndarray) -> tuple[np.ndarray | None, float]:
    """Return shares of the rows that mix the classes, and how far the mixtures are apart."""
    if not dual.any():
        return None, np.inf
    # By duality the multipliers of signed rows cancel: the classes have the same sum, and as the
    # bias is a column too, the same weight.
    shares = 2.0 * dual / dual.sum()
    best = shares, float(np.linalg.norm(rows.T @ shares))
    active = np.flatnonzero(shares > _ROUNDING)
    if len(active) * rows.shape[1] > _MOST_TO_POLISH:
        return best
    # The solver stops at a tolerance of its own; equations over its rows are exact.
    support: Any = rows[active]
    support = support.toarray() if is_sparse(support) else support
    equations = np.vstack([support.T, np.ones(len(active))])
    right_side = np.append(np.zeros(rows.shape[1]), 2.0)
    polished = np.zeros(len(dual))
    polished[active] = np.maximum(np.linalg.lstsq(equations, right_side, rcond=None)[0], 0.0)
    polished *= 2.0 / max(float(polished.sum()), _ROUNDING)
    distance = float(np.linalg.norm(rows.T @ polished))
    return (polished, distance) if distance < best[1] else best


def pairwise_separability(X: Any, y: ArrayLike) -> dict[tuple[Any, Any], Separability]:
    """Decide for every two classes whether a plane separates them.

    Classes may be pairwise separable though no class can be separated from all the rest
    (Alpaydin 10.4).

    Examples
    --------
    >>> line = [[0.0], [1.0], [2.0]]
    >>> [bool(pair) for pair in pairwise_separability(line, ["a", "b", "c"]).values()]
    [True, True, True]
    >>> bool(separability(line, [False, True, False]))
    False
    """
    rows = check_rows(X, sparse=True)
    labels = check_labels(y, rows.shape[0])
    if len(np.unique(labels)) < 2:
        raise DataError(f"y must have two classes or more; got {len(np.unique(labels))}.")
    pairs = combinations(np.unique(labels), 2)
    return {
        (first, second): separability(rows[members], labels[members])
        for first, second in pairs
        for members in [np.flatnonzero((labels == first) | (labels == second))]
    }


def one_versus_rest_separability(X: Any, y: ArrayLike) -> dict[Any, Separability]:
    """Decide for each class whether a plane separates it from all the rest.

    Classes are linearly separable where every answer is yes (Alpaydin 10.3.2).

    Examples
    --------
    >>> line, names = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    >>> {name: bool(answer) for name, answer in one_versus_rest_separability(line, names).items()}
    {'a': True, 'b': False, 'c': True}
    """
    rows = check_rows(X, sparse=True)
    labels = check_labels(y, rows.shape[0])
    return {label: separability(rows, labels == label) for label in np.unique(labels).tolist()}


def shared_slack_program(rows: Any, margins: np.ndarray | None = None) -> ProgramSolution:
    r"""Minimise one :math:`\tau \ge 0` with :math:`a^T y_i + \tau \ge b_i` for all rows."""
    n_rows = rows.shape[0]
    margins = np.ones(n_rows) if margins is None else margins
    return _solve(rows, np.ones((n_rows, 1)), margins)


def own_slack_program(rows: Any, margins: np.ndarray | None = None) -> ProgramSolution:
    r"""Minimise :math:`\sum_i \tau_i` with :math:`a^T y_i + \tau_i \ge b_i` (Bartkowiak 5.8.2)."""
    n_rows = rows.shape[0]
    margins = np.ones(n_rows) if margins is None else margins
    return _solve(rows, sp.identity(n_rows, format="csr"), margins)


def dual_program(rows: Any, margins: np.ndarray | None = None) -> ProgramSolution:
    r"""Solve the dual of `own_slack_program` and recover the weights from its multipliers.

    It maximises :math:`b^T \lambda` with :math:`Y^T \lambda = 0` and :math:`0 \le \lambda \le 1`.
    """
    n_rows, n_weights = rows.shape
    margins = np.ones(n_rows) if margins is None else margins
    answer: Any = linprog(
        -margins,
        A_eq=rows.T,
        b_eq=np.zeros(n_weights),
        bounds=(0.0, 1.0),
        method="highs",
    )
    _check_solved(answer)
    # The multipliers of the dual's equations are the primal weights (strong duality).
    weights = -np.asarray(answer.eqlin.marginals)
    slacks = np.maximum(margins - rows @ weights, 0.0)
    return ProgramSolution(weights, slacks, answer.x, -float(answer.fun))


def _solve(rows: Any, slack_columns: Any, margins: np.ndarray) -> ProgramSolution:
    """Minimise the sum of the slacks; weights are free, slacks are not negative."""
    n_weights, n_slacks = rows.shape[1], slack_columns.shape[1]
    # The identity of own slacks would be quadratic in the rows if it were dense.
    sparse = is_sparse(slack_columns) or is_sparse(rows)
    table = sp.hstack([rows, slack_columns]).tocsr() if sparse else np.hstack([rows, slack_columns])
    many = n_slacks > max(MANY_SLACKS, 10 * n_weights)
    answer: Any = linprog(
        np.concatenate([np.zeros(n_weights), np.ones(n_slacks)]),
        A_ub=-table,
        b_ub=-margins,
        bounds=[(None, None)] * n_weights + [(0.0, None)] * n_slacks,
        method="highs-ipm" if many else "highs",
    )
    _check_solved(answer)
    return ProgramSolution(
        weights=answer.x[:n_weights],
        slacks=answer.x[n_weights:],
        dual=np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0),
        objective=float(answer.fun),
    )


def _check_solved(answer: Any) -> None:
    if answer.x is None:
        raise DataError(
            "the linear program could not be solved "
            f"({str(answer.message).strip().rstrip('.')}); scale the inputs."
        )


def _two_classes(X: Any, y: ArrayLike) -> tuple[Any, np.ndarray]:
    inputs = check_rows(X, sparse=True)
    labels, codes = np.unique(check_labels(y, inputs.shape[0]), return_inverse=True)
    if len(labels) != 2:
        raise DataError(
            f"y must have two classes, since one plane has two sides; got {len(labels)}. "
            "pairwise_separability looks at every two of more classes."
        )
    return inputs, np.where(codes == 1, 1.0, -1.0)


def _signed_rows(inputs: Any, signs: np.ndarray) -> Any:
    """Return augmented rows times their signs."""
    if is_sparse(inputs):
        column: Any = sp.csr_array(signs[:, None])
        return sp.hstack([column, sp.diags(signs) @ inputs]).tocsr()
    return np.column_stack([signs, inputs * signs[:, None]])
