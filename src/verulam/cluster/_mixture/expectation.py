"""Responsibilities of the components, and the sums over rows that they give: the E-step.

Two ways lead to the same sums. A Gaussian's logarithm is linear in the products of the columns, so
that all densities of a block of rows are one matrix product, and all sums another; that is fastest
while there are few columns. Where there are many, or where a component is so narrow beside the
spread of the data that such sums would cancel, deviations from its mean are whitened instead.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dtrtri

from verulam.base import Chunk
from verulam.cluster._mixture.components import Components, exceeds, has_matrices
from verulam.numerics import gap_patterns

#: Up to this many columns the products of all pairs are cheaper than whitening by component, and
#: up to twice as many where enough components share them.
MOST_PRODUCT_COLUMNS, SHARING_COMPONENTS = 16, 6
#: Variances in units of the data's, below which sums of products would lose too many digits.
LEAST_PRODUCT_VARIANCE = 1e-6
#: Numbers of a block of rows, so that a block stays in the cache from one step to the next: of
#: products, and of deviations, of which there is a second copy and the components' factors beside.
BLOCK_NUMBERS, DEVIATION_NUMBERS = 2**17, 2**16
#: Rows of which a component has less, beside the row of which it has most, do not change its sums,
#: however far out they lie.
NEGLIGIBLE_SHARE = 1e-40
_LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class PreparedMixture:
    r"""A mixture made ready for evaluation.

    Attributes
    ----------
    components
        Its parameters.
    origin, scale : ndarray of shape (n_columns,)
        Mean and standard deviation of the data, in whose units products are taken.
    coefficients : ndarray or None
        Of :math:`\ln P_k p_k(x)` as a linear function of 1, the columns and their products, by
        component; None where deviations are whitened instead.
    roots : ndarray
        Of the precisions: :math:`\Sigma^{-1} = UU^T`, or :math:`1/\sigma` by column.
    constants : ndarray of shape (n_components,)
        :math:`\ln P_k - \tfrac12 \ln|2\pi\Sigma_k|`.
    """

    components: Components
    origin: np.ndarray
    scale: np.ndarray
    coefficients: np.ndarray | None
    roots: np.ndarray
    constants: np.ndarray


def prepare(components: Components, origin: np.ndarray, scale: np.ndarray) -> PreparedMixture:
    """Factorise the covariances and decide how densities are evaluated."""
    kind = components.covariance_type
    n_columns = components.means.shape[1]
    with np.errstate(divide="ignore"):
        log_weights = np.maximum(np.log(components.weights), -700.0)
    if has_matrices(kind):
        matrices = components.covariances.reshape(-1, n_columns, n_columns)
        lower = np.linalg.cholesky(matrices)
        # Sigma = L L^T, so that U = L^-T.
        roots = np.array([dtrtri(factor, lower=1)[0].T for factor in lower])
        diagonals = np.diagonal(lower, axis1=1, axis2=2)
        log_determinants = 2.0 * np.log(diagonals).sum(axis=1)
        scaled = matrices / np.outer(scale, scale)
        shared = 2 if len(components.means) >= SHARING_COMPONENTS else 1
        products = kind == "tied" or n_columns <= shared * MOST_PRODUCT_COLUMNS
        products = products and exceeds(scaled, LEAST_PRODUCT_VARIANCE)
    else:
        variances = components.variances()
        roots = 1.0 / np.sqrt(variances)
        log_determinants = np.log(variances).sum(axis=1)
        products = bool((variances > LEAST_PRODUCT_VARIANCE * scale**2).all())
    constants = log_weights - 0.5 * (n_columns * _LOG_TWO_PI + log_determinants)
    coefficients = None
    if products:
        means = (components.means - origin) / scale
        coefficients = _coefficients(means, roots * _columnwise(scale, roots), constants, kind)
    return PreparedMixture(components, origin, scale, coefficients, roots, constants)


def _columnwise(scale: np.ndarray, roots: np.ndarray) -> np.ndarray:
    return scale[:, None] if roots.ndim == 3 else scale


def _coefficients(
    means: np.ndarray, roots: np.ndarray, constants: np.ndarray, kind: str
) -> np.ndarray:
    """Return the densities' logarithms as linear functions of the features, a row for each."""
    if has_matrices(kind):
        precisions = roots @ roots.transpose(0, 2, 1)
        linear = (precisions @ means[:, :, None])[:, :, 0]
    else:
        precisions = roots**2
        linear = precisions * means
    first = constants - 0.5 * np.einsum("kj,kj->k", linear, means)
    parts = [first[:, None], linear]
    if kind == "full":
        rows, columns = np.triu_indices(means.shape[1])
        # Products of different columns stand for both halves of the matrix.
        parts.append(precisions[:, rows, columns] * np.where(rows == columns, -0.5, -1.0))
    elif kind != "tied":
        parts.append(-0.5 * precisions)
    return np.hstack(parts)


def features(X: np.ndarray, mixture: PreparedMixture, out: np.ndarray | None = None) -> np.ndarray:
    """Return 1, the columns in their units, and the products that the family needs, as rows."""
    n_columns = X.shape[1]
    kind = mixture.components.covariance_type
    n_products = {"full": n_columns * (n_columns + 1) // 2, "tied": 0}.get(kind, n_columns)
    result = np.empty((1 + n_columns + n_products, len(X))) if out is None else out
    result[0] = 1.0
    columns = result[1 : 1 + n_columns]
    np.subtract(X.T, mixture.origin[:, None], out=columns)
    columns /= mixture.scale[:, None]
    if kind == "full":
        place = 1 + n_columns
        for first in range(n_columns):
            stop = place + n_columns - first
            np.multiply(columns[first], columns[first:], out=result[place:stop])
            place = stop
    elif kind != "tied":
        np.multiply(columns, columns, out=result[1 + n_columns :])
    return result


def joint_log_densities(
    X: np.ndarray,
    mixture: PreparedMixture,
    products: np.ndarray | None = None,
    out: np.ndarray | None = None,
    scratch: np.ndarray | None = None,
) -> np.ndarray:
    r"""Return :math:`\ln P_k p_k(x)`, a row for each component, of a block of complete rows."""
    if mixture.coefficients is None:
        return _whitened_log_densities(X, mixture, np.empty_like(X) if scratch is None else scratch)
    products = features(X, mixture) if products is None else products
    result = np.matmul(mixture.coefficients, products, out=out)
    if mixture.components.covariance_type == "tied":
        # What is quadratic is the same for all components.
        whitened = products[1:].T @ (mixture.roots[0] * mixture.scale[:, None])
        result -= 0.5 * np.einsum("ij,ij->i", whitened, whitened)
    return result


def _whitened_log_densities(
    X: np.ndarray, mixture: PreparedMixture, scratch: np.ndarray
) -> np.ndarray:
    means, roots = mixture.components.means, mixture.roots
    result = np.empty((len(means), len(X)))
    for k, mean in enumerate(means):
        whitened = np.subtract(X, mean, out=scratch)
        if roots.ndim == 3:
            # The factor is triangular: half of the multiplications of a matrix product.
            root = roots[k if len(roots) > 1 else 0]
            whitened = dtrmm(1.0, root, whitened.T, trans_a=1, overwrite_b=1).T
        else:
            whitened *= roots[k]
        np.einsum("ij,ij->i", whitened, whitened, out=result[k])
    result *= -0.5
    result += mixture.constants[:, None]
    return result


def normalise(joint: np.ndarray) -> np.ndarray:
    """Turn joint log-densities into responsibilities, in place; return the rows' log-densities."""
    largest = joint.max(axis=0)
    joint -= largest
    np.exp(joint, out=joint)
    totals = joint.sum(axis=0)
    joint /= totals
    return np.log(totals) + largest


@dataclass(frozen=True)
class MixtureSums:
    """Sums over rows, weighted by the responsibilities of the components.

    Attributes
    ----------
    references : ndarray of shape (n_components, n_columns)
        Where deviations are taken from.
    weight : ndarray of shape (n_components,)
        Total responsibility.
    deviations : ndarray of shape (n_components, n_columns)
        Sum of deviations.
    scatter : ndarray
        Sum of products of deviations: matrices by component ("full"), one matrix ("tied"), or
        squares by component and column.
    log_likelihood
        Of the rows.
    """

    references: np.ndarray
    weight: np.ndarray
    deviations: np.ndarray
    scatter: np.ndarray
    log_likelihood: float

    def __add__(self, other: "MixtureSums") -> "MixtureSums":
        return MixtureSums(
            self.references,
            self.weight + other.weight,
            self.deviations + other.deviations,
            self.scatter + other.scatter,
            self.log_likelihood + other.log_likelihood,
        )

    def about(self, references: np.ndarray) -> "MixtureSums":
        """Return the same sums, whose scatter is matrices, with deviations from other points."""
        moves = self.references - references
        weight, sums = self.weight, self.deviations
        cross = sums[:, :, None] * moves[:, None, :]
        matrices = cross + cross.transpose(0, 2, 1)
        matrices += weight[:, None, None] * moves[:, :, None] * moves[:, None, :]
        return MixtureSums(
            references, weight, sums + weight[:, None] * moves, self.scatter + matrices,
            self.log_likelihood,
        )  # fmt: skip


def expected_sums(chunk: Chunk, mixture: PreparedMixture) -> MixtureSums:
    """Return the sums of one chunk under a mixture."""
    X, weights = chunk.inputs, chunk.weights
    # One sum of all numbers is ten times as quick as one by row, and tells most often enough.
    if not np.isnan(X.sum()):
        return _complete_sums(X, weights, mixture)
    complete = ~np.isnan(X).any(axis=1)
    sums = _incomplete_sums(X[~complete], _at(weights, ~complete), mixture)
    if complete.any():
        sums = _complete_sums(X[complete], _at(weights, complete), mixture) + sums
    return sums


def _at(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else weights[rows]


def _references(mixture: PreparedMixture) -> np.ndarray:
    means = mixture.components.means
    if mixture.coefficients is None:
        return means
    return np.repeat(mixture.origin[None], len(means), axis=0)


def _complete_sums(
    X: np.ndarray, weights: np.ndarray | None, mixture: PreparedMixture
) -> MixtureSums:
    by_products = mixture.coefficients is not None
    n_components, n_columns = mixture.components.means.shape
    width = n_columns if mixture.coefficients is None else mixture.coefficients.shape[1]
    most = BLOCK_NUMBERS if by_products else DEVIATION_NUMBERS
    block = min(max(64, most // width), len(X))
    totals = np.zeros((n_components, width))
    weight = np.zeros(n_components)
    scatter = _empty_scatter(mixture)
    log_likelihood = 0.0
    # The same memory for all blocks: fresh pages cost as much as the products in them.
    memory = np.empty((width, block)), np.empty((n_components, block))
    for start in range(0, len(X), block):
        rows = X[start : start + block]
        row_weights = None if weights is None else weights[start : start + block]
        products = features(rows, mixture, memory[0][:, : len(rows)]) if by_products else None
        scratch = memory[0].reshape(block, -1)[: len(rows)]
        joint = joint_log_densities(rows, mixture, products, memory[1][:, : len(rows)], scratch)
        log_densities = normalise(joint)
        if row_weights is not None:
            joint *= row_weights
            log_densities *= row_weights
        log_likelihood += float(log_densities.sum())
        if products is None:
            weight += joint.sum(axis=1)
            _add_deviations(rows, joint, mixture, totals, scatter, scratch)
        else:
            totals += joint @ products.T
            if mixture.components.covariance_type == "tied":
                columns = products[1:] if row_weights is None else products[1:] * row_weights
                scatter += columns @ products[1:].T
    if by_products:
        return _from_products(totals, scatter, log_likelihood, mixture)
    return MixtureSums(mixture.components.means, weight, totals, scatter, log_likelihood)


def _empty_scatter(mixture: PreparedMixture) -> np.ndarray:
    n_components, n_columns = mixture.components.means.shape
    shapes = {"full": (n_components, n_columns, n_columns), "tied": (n_columns, n_columns)}
    kind = mixture.components.covariance_type
    return np.zeros(shapes.get(kind, (n_components, n_columns)))


def _add_deviations(
    X: np.ndarray,
    responsibilities: np.ndarray,
    mixture: PreparedMixture,
    totals: np.ndarray,
    scatter: np.ndarray,
    scratch: np.ndarray,
) -> None:
    """Add to the sums of a block."""
    kind = mixture.components.covariance_type
    for k, mean in enumerate(mixture.components.means):
        shares, rows = responsibilities[k], X
        # In many dimensions most rows belong to one component alone.
        present = np.flatnonzero(shares > NEGLIGIBLE_SHARE * shares.max())
        if 2 * len(present) < len(X):
            shares, rows = shares[present], X[present]
        deviations = np.subtract(rows, mean, out=scratch[: len(rows)])
        if has_matrices(kind):
            roots = np.sqrt(shares)
            deviations *= roots[:, None]
            totals[k] += roots @ deviations
            # NumPy knows that this is symmetric, and does half of the work.
            scatter[k if kind == "full" else ...] += deviations.T @ deviations
        else:
            totals[k] += shares @ deviations
            deviations *= deviations
            scatter[k] += shares @ deviations


def _from_products(
    totals: np.ndarray, scatter: np.ndarray, log_likelihood: float, mixture: PreparedMixture
) -> MixtureSums:
    """Return sums of features as sums of deviations from the origin, in the data's units."""
    scale, kind = mixture.scale, mixture.components.covariance_type
    n_columns = len(scale)
    products = totals[:, 1 + n_columns :]
    if kind == "full":
        rows, columns = np.triu_indices(n_columns)
        scatter[:, rows, columns] = scatter[:, columns, rows] = products
        scatter *= np.outer(scale, scale)
    elif kind == "tied":
        scatter *= np.outer(scale, scale)
    else:
        scatter = products * scale**2
    deviations = totals[:, 1 : 1 + n_columns] * scale
    return MixtureSums(_references(mixture), totals[:, 0], deviations, scatter, log_likelihood)


@dataclass(frozen=True)
class ObservedRows:
    """Rows with the same gaps, as every component sees them.

    Attributes
    ----------
    joint : ndarray of shape (n_components, n_rows)
        Joint log-densities of the values that are present.
    deviations : ndarray of shape (n_components, n_rows, n_present)
        From the means, of the same values.
    factors : ndarray of shape (n_components, n_present, n_present)
        Lower triangular factors of their covariances.
    """

    joint: np.ndarray
    deviations: np.ndarray
    factors: np.ndarray


def observe(X: np.ndarray, present: np.ndarray, mixture: PreparedMixture) -> ObservedRows:
    """Evaluate the marginal densities of the columns that are present."""
    means = mixture.components.means
    blocks = mixture.components.matrices()[:, present][:, :, present]
    deviations = X[None, :, present] - means[:, None, present]
    factors = np.linalg.cholesky(blocks)
    whitened = np.linalg.solve(factors, deviations.transpose(0, 2, 1))
    diagonals = np.diagonal(factors, axis1=1, axis2=2)
    constants = 0.5 * present.sum() * _LOG_TWO_PI + np.log(diagonals).sum(axis=1)
    with np.errstate(divide="ignore"):
        log_weights = np.maximum(np.log(mixture.components.weights), -700.0)
    squares = np.einsum("kij,kij->kj", whitened, whitened)
    return ObservedRows((log_weights - constants)[:, None] - 0.5 * squares, deviations, factors)


def _incomplete_sums(
    X: np.ndarray, weights: np.ndarray | None, mixture: PreparedMixture
) -> MixtureSums:
    """Return the expected sums of rows with gaps, filled by each component in its own way."""
    components = mixture.components
    n_components, n_columns = components.means.shape
    weight, totals = np.zeros(n_components), np.zeros((n_components, n_columns))
    scatter = np.zeros((n_components, n_columns, n_columns))
    log_likelihood = 0.0
    for present, places in gap_patterns(X):
        observed = observe(X[places], present, mixture)
        shares = observed.joint
        log_densities = normalise(shares)
        if weights is not None:
            shares *= weights[places]
            log_densities *= weights[places]
        log_likelihood += float(log_densities.sum())
        filled, conditional = _filled_deviations(observed, present, components.matrices())
        weighted = filled * shares[:, :, None]
        weight += shares.sum(axis=1)
        totals += weighted.sum(axis=1)
        scatter += weighted.transpose(0, 2, 1) @ filled
        # Filled-in values alone would understate the variance by what is unknown about them.
        scatter += shares.sum(axis=1)[:, None, None] * conditional
    sums = MixtureSums(components.means, weight, totals, scatter, log_likelihood)
    sums = sums.about(_references(mixture))
    kind = components.covariance_type
    if kind == "tied":
        matrices = sums.scatter.sum(axis=0)
    elif kind == "full":
        matrices = sums.scatter
    else:
        matrices = np.diagonal(sums.scatter, axis1=1, axis2=2)
    return MixtureSums(sums.references, weight, sums.deviations, matrices, log_likelihood)


def _filled_deviations(
    observed: ObservedRows, present: np.ndarray, covariances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return expected deviations from the means, and the covariances of what is missing.

    With :math:`o` the columns present and :math:`a` those absent, the first are
    :math:`\Sigma_{ao}\Sigma_{oo}^{-1}(x_o - \mu_o)`, the second
    :math:`\Sigma_{aa} - \Sigma_{ao}\Sigma_{oo}^{-1}\Sigma_{oa}`.
    """
    absent = ~present
    n_components, n_rows, _ = observed.deviations.shape
    across = covariances[:, present][:, :, absent]
    halves = np.linalg.solve(observed.factors, across)
    slopes = np.linalg.solve(observed.factors.transpose(0, 2, 1), halves)
    filled = np.empty((n_components, n_rows, len(present)))
    filled[:, :, present] = observed.deviations
    filled[:, :, absent] = observed.deviations @ slopes
    conditional = np.zeros_like(covariances)
    places = np.flatnonzero(absent)
    conditional[:, places[:, None], places] = (
        covariances[:, absent][:, :, absent] - halves.transpose(0, 2, 1) @ halves
    )
    return filled, conditional
