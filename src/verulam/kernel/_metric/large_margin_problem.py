"""The problem behind large margin metrics: targets near, impostors a margin further away."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize
from sklearn.neighbors import NearestNeighbors

from verulam.base import DataError, thread_map
from verulam.kernel._metric.large_margin_loops import (
    pull,
    push,
    target_squares,
    within_reach,
)
from verulam.kernel._tuning import (
    IMPOSTOR_BLOCK_ENTRIES,
    IMPOSTOR_PARTS,
    IMPOSTOR_THREADED_ENTRIES,
    LOOKAHEAD,
    STEPS_PER_SEARCH,
)
from verulam.numerics import distances

#: Rows that the scale of a start is chosen by.
SCALE_ROWS = 100
#: Directions with less than this share of the largest variance are not stretched any further.
LEAST_VARIANCE = 1e-4


@dataclass(frozen=True, eq=False)
class MarginProblem:
    r"""Data of a large margin metric.

    Attributes
    ----------
    inputs : ndarray of shape (n_samples, n_features)
        Rows.
    codes : ndarray of shape (n_samples,)
        Class of each row.
    targets : ndarray of shape (n_samples, n_neighbors)
        Nearest rows of the same class, by the metric of the inputs.
    allowed : ndarray of shape (n_samples, n_neighbors) or None
        The only rows that may be impostors of each row; None for any row of another class.
    push_weight
        Weight :math:`\mu` of impostors against that of targets.
    """

    inputs: np.ndarray
    codes: np.ndarray
    targets: np.ndarray
    allowed: np.ndarray | None
    push_weight: float


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows that may be impostors: of row i those in ``others[starts[i]:starts[i + 1]]``."""

    starts: np.ndarray
    others: np.ndarray


@dataclass(frozen=True, eq=False)
class Loss:
    """Value of the objective at one projection, its gradient, and the triples with slack."""

    value: float
    gradient: np.ndarray
    n_active: int


@dataclass(frozen=True, eq=False)
class LearnedMetric:
    """Outcome of the optimisation.

    Attributes
    ----------
    projection : ndarray of shape (n_components, n_features)
        Matrix :math:`L`.
    losses
        Objective at the start and after each round of steps.
    n_steps
        Number of steps.
    n_active
        Triples with slack at the end.
    converged
        False where the limit on steps was reached first.
    """

    projection: np.ndarray
    losses: list[float]
    n_steps: int
    n_active: int
    converged: bool


def margin_problem(
    inputs: np.ndarray, codes: np.ndarray, n_neighbors: int, push_weight: float, *, nearby: bool
) -> MarginProblem:
    """Return the problem, its targets chosen by the Euclidean distance of the inputs."""
    sizes = np.bincount(codes)
    count = min(n_neighbors, int(sizes.max()) - 1)
    if count < 1:
        raise DataError(
            "y must have two rows or more of some class; got each class once, 1 sample."
        )
    targets = np.empty((len(inputs), count), dtype=np.int32)
    for code in range(len(sizes)):
        rows = np.flatnonzero(codes == code)
        n_targets = min(count, len(rows) - 1)
        # A row with too few of its class is its own target: that costs nothing and pulls nothing.
        targets[rows] = rows[:, None]
        if n_targets:
            finder = NearestNeighbors(n_neighbors=n_targets).fit(inputs[rows])
            targets[rows, :n_targets] = rows[finder.kneighbors(return_distance=False)]
    allowed = None
    if nearby:
        near = min(n_neighbors, len(inputs) - 1)
        finder = NearestNeighbors(n_neighbors=near).fit(inputs)
        allowed = finder.kneighbors(return_distance=False)
    return MarginProblem(inputs, codes, targets, allowed, push_weight)


@dataclass(frozen=True, eq=False)
class Conditioned:
    """The same problem in coordinates that vary alike and without correlation.

    Attributes
    ----------
    problem
        The problem there; targets and rows that may be impostors are those of the inputs.
    forth : ndarray of shape (n_features, n_features)
        Turns a projection of the inputs into one of those coordinates, from the right.
    back : ndarray of shape (n_features, n_features)
        Turns it back.
    """

    problem: MarginProblem
    forth: np.ndarray
    back: np.ndarray


def condition(problem: MarginProblem) -> Conditioned:
    """Return a problem with the same metrics and values that takes fewer steps to solve."""
    spreads = problem.inputs.std(axis=0)
    # A constant column says nothing, and must not be divided by zero.
    spreads = np.where(spreads > 0.0, spreads, 1.0)
    scaled = problem.inputs / spreads
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    roots = np.sqrt(np.maximum(values, LEAST_VARIANCE * max(float(values.max()), 1e-300)))
    # A projection L of the inputs is L times this in coordinates of equal variance: L x = L F y.
    forth = spreads[:, None] * vectors * roots
    back = (vectors / roots / spreads[:, None]).T
    inputs = np.ascontiguousarray(problem.inputs @ back.T)
    return Conditioned(replace(problem, inputs=inputs), forth, back)


def find_candidates(problem: MarginProblem, projection: np.ndarray) -> Candidates:
    """Return all rows of other classes that are within reach, or nearly, of each row."""
    points = problem.inputs @ projection.T
    # A row has a slack only with impostors nearer than its farthest target and the margin of one.
    squares = np.empty(problem.targets.shape)
    target_squares(points, problem.targets, squares)
    reach = squares.max(axis=1) + 1.0 + LOOKAHEAD
    if problem.allowed is not None:
        rows, places = np.nonzero(problem.codes[problem.allowed] != problem.codes[:, None])
        return _listed(rows, problem.allowed[rows, places], len(points))
    half_lengths = 0.5 * np.einsum("ij,ij->i", points, points)
    # A pair is within reach where its product outweighs half of both lengths less the reach.
    limits = half_lengths - 0.5 * reach
    size = len(points)
    step = max(1, IMPOSTOR_BLOCK_ENTRIES // size)
    counts = np.zeros(size + 1, dtype=np.int64)
    # One more than can be within reach, as the loop writes ahead.
    in_reach = np.empty(step * size + 1, dtype=np.int32)
    others = []
    for first in range(0, size, step):
        products = points[first : first + step] @ points.T
        total = within_reach(
            products, half_lengths, limits, problem.codes, first, counts[1:], in_reach
        )
        others.append(in_reach[:total].copy())
    return Candidates(counts.cumsum(), np.concatenate(others))


def _listed(rows: np.ndarray, others: np.ndarray, n_rows: int) -> Candidates:
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n_rows + 1)).astype(np.int64)
    return Candidates(starts, others[order].astype(np.int32))


def best_scale(problem: MarginProblem, projection: np.ndarray) -> float:
    """Return the factor of a projection that makes the objective least, by a sample of rows.

    Only the scale against the margin of one is found, so that the units of the inputs do not
    matter; the objective is convex in the square of the factor.
    """
    points = problem.inputs @ projection.T
    # Rows from all over the table, the same at every call.
    rows = np.unique(np.linspace(0, len(points) - 1, SCALE_ROWS).astype(int))
    squares = distances(points[rows], points, "sqeuclidean")
    near = np.take_along_axis(squares, problem.targets[rows].astype(int), axis=1)
    strangers = problem.codes[rows][:, None] != problem.codes
    # One plus the factor times these is the slack of each triple.
    gaps = np.concatenate([(near[:, [k]] - squares)[strangers] for k in range(near.shape[1])])
    typical = float(near.mean()) or float(squares.mean()) or 1.0
    weight = problem.push_weight
    pulled = (1.0 - weight) * float(near.sum())

    def objective(logarithm: float) -> float:
        factor = np.exp(logarithm) / typical
        return pulled * factor + weight * float(np.maximum(0.0, 1.0 + factor * gaps).sum())

    optimum = scipy.optimize.minimize_scalar(
        objective, bounds=(-9.0, 9.0), method="bounded", options={"maxiter": 15}
    )
    return float(np.sqrt(np.exp(optimum.x) / typical))


def margin_loss(problem: MarginProblem, candidates: Candidates, projection: np.ndarray) -> Loss:
    r"""Return the objective of a projection :math:`L` and its gradient.

    Notes
    -----
    .. math:: (1 - \mu) \sum_{i, j} D_{ij} + \mu \sum_{i, j, l} \max(0, 1 + D_{ij} - D_{il}),
              \qquad D_{ij} = \|L x^i - L x^j\|^2

    with :math:`j` a target of :math:`i` and :math:`l` a candidate. The gradient is gathered as
    forces between the projected rows, so that no triple needs an outer product of its own.
    """
    points = problem.inputs @ projection.T
    squares = np.empty(problem.targets.shape)
    target_squares(points, problem.targets, squares)
    pulled = np.zeros(squares.shape)
    parts = np.zeros((IMPOSTOR_PARTS, *points.shape))
    starts, others = candidates.starts, candidates.others
    # Parts with as many candidates each, as rows differ in how many they have.
    bounds = np.searchsorted(starts, np.linspace(0, len(others), IMPOSTOR_PARTS + 1))
    bounds[[0, -1]] = 0, len(points)

    def part(place: int) -> tuple[float, int]:
        first, last = bounds[place : place + 2]
        scratch = np.empty(points.shape[1])
        state = (squares, starts, others, first, last, pulled, parts[place], scratch)
        return push(points, problem.targets, *state)

    threads = IMPOSTOR_PARTS if others.size * points.shape[1] > IMPOSTOR_THREADED_ENTRIES else 1
    results = thread_map(part, range(IMPOSTOR_PARTS), threads)
    slack, n_active = (sum(column) for column in zip(*results, strict=True))
    weight = problem.push_weight
    forces = weight * parts.sum(axis=0)
    # An impostor that comes between a row and its target pulls the target nearer as well.
    pull(points, problem.targets, (1.0 - weight) + weight * pulled, forces)
    value = (1.0 - weight) * float(squares.sum()) + weight * slack
    return Loss(value, 2.0 * forces.T @ problem.inputs, n_active)


def learn_projection(
    problem: MarginProblem, init: np.ndarray, max_iter: int, tol: float
) -> LearnedMetric:
    """Return the projection that makes the objective least, by L-BFGS over candidates.

    Candidates are looked up again every few steps. It ends where a round of steps, all impostors
    known, gains less than `tol` of the objective.
    """
    state = _look(problem, init)
    losses = [state.loss.value]
    converged = False
    n_steps = 0
    while n_steps < max_iter and not converged:
        steps = min(STEPS_PER_SEARCH, max_iter - n_steps)
        end, taken = _descend(problem, state, steps, tol)
        n_steps += max(taken, 1)
        after = _look(problem, end)
        if after.loss.value > state.loss.value:
            # Rows from beyond the list came into reach: part of the way is still better.
            after = _part_of_the_way(problem, state, end)
        gain = state.loss.value - after.loss.value
        converged = gain <= tol * max(after.loss.value, 1e-300)
        state = after
        losses.append(after.loss.value)
    return LearnedMetric(state.projection, losses, n_steps, state.loss.n_active, converged)


@dataclass(frozen=True, eq=False)
class _DescentState:
    """A projection, everything that is within reach there, and its loss."""

    projection: np.ndarray
    candidates: Candidates
    loss: Loss


def _look(problem: MarginProblem, projection: np.ndarray) -> _DescentState:
    candidates = find_candidates(problem, projection)
    return _DescentState(projection, candidates, margin_loss(problem, candidates, projection))


def _part_of_the_way(
    problem: MarginProblem, start: _DescentState, end: np.ndarray
) -> _DescentState:
    for halving in range(1, 30):
        middle = start.projection + (end - start.projection) * 0.5**halving
        state = _look(problem, middle)
        if state.loss.value <= start.loss.value:
            return state
    return start


def _descend(
    problem: MarginProblem, state: _DescentState, steps: int, tol: float
) -> tuple[np.ndarray, int]:
    shape = state.projection.shape

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        loss = margin_loss(problem, state.candidates, flat.reshape(shape))
        return loss.value, loss.gradient.ravel()

    outcome = scipy.optimize.minimize(
        objective,
        state.projection.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": steps, "ftol": tol / 10, "gtol": 1e-9, "maxcor": 10},
    )
    return outcome.x.reshape(shape), int(outcome.nit)
