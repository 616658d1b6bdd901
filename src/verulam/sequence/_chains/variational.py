"""Factorial models of many chains, learned without multiplying the chains out."""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Density,
    InSteps,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
)
from verulam.sequence._chains.mean_field import (
    ChainBeliefs,
    FactorialParameters,
    believe,
    best_chain_paths,
    check_factorial,
    draw_chains,
    improved,
)
from verulam.sequence._chains.product_states import chain_sizes
from verulam.sequence._data.sequences import Sequences, check_count
from verulam.sequence._emissions.gaussian import GaussianEmission
from verulam.sequence._learners.hidden_markov import ORDER_MATTERS, HiddenMarkovModel
from verulam.sequence._learners.markov_chain import MarkovChain
from verulam.sequence._learners.queries import SampledSequences
from verulam.sequence._model.emission import checked_sequences

#: Least variance of the noise, as a share of a column's variance.
FLOOR = 1e-6
#: Sweeps over the chains in each pass of learning.
FEW_SWEEPS = 4


@dataclass(frozen=True)
class _Run:
    parameters: FactorialParameters
    curve: list[float]
    converged: bool


class VariationalFactorial(InSteps, Density):
    r"""Several chains add up to what is seen; each is inferred given what the others explain.

    Parameters
    ----------
    sizes
        Number of states of each chain.
    n_init
        Number of random starts; the best is kept.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the bound by no more than this per step.
    random_state
        Seed of the starts.

    Attributes
    ----------
    parameters_ : FactorialParameters
        Initial probabilities, transition matrices and contributions of the chains, and the
        covariance of the noise.
    objective_curve_ : list of float
        Lower bound of the log-likelihood at each pass; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    The exact posterior of :math:`K` chains of :math:`N` states needs :math:`N^K` combined states
    (`factorial_model`). Here :math:`Q(q) = \prod_k Q_k(q^k)` keeps the chains apart and each
    chain's time intact: the structured approximation, at a cost of :math:`K N^2` per step
    (Alpaydin 15.9; [ghahramani1997b]_). `gibbs` draws from the exact posterior instead.

    References
    ----------
    .. [ghahramani1997b] Z. Ghahramani and M. I. Jordan, "Factorial hidden Markov models",
       Machine Learning 29, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import VariationalFactorial
    >>> slow, fast = np.repeat([0.0, 10.0], 40), np.tile([0.0, 0.0, 3.0, 3.0], 20)
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=80)
    >>> model = VariationalFactorial((2, 2), n_init=4, random_state=0).fit(slow + fast + noise)
    >>> model.predict(slow + fast).shape
    (80, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "sizes": [tuple, list, np.ndarray],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    _takes_sequences: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_fit1d": "a one-dimensional X is a sequence of single numbers",
        "check_methods_sample_order_invariance": ORDER_MATTERS,
        "check_methods_subset_invariance": ORDER_MATTERS,
    }
    # The most probable states of twenty random rows may be the same in two orders.
    _passes_by_chance = frozenset({"check_methods_sample_order_invariance"})

    def __init__(
        self,
        sizes: Any = (2, 2),
        *,
        n_init: int = 3,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Seed = None,
    ) -> None:
        self.sizes = sizes
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        return HiddenMarkovModel._example_data()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X
            A list of arrays, or one array. A step with a missing number counts as missing.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        """
        sizes = chain_sizes(self.sizes)
        sequences = checked_sequences(self, X, lengths, True)
        random = generator(self.random_state)
        runs = [
            self._run(sequences, _start(sequences, sizes, random))
            for _ in self._steps(range(self.n_init), "start", self.n_init)
        ]
        best = max(runs, key=lambda run: run.curve[-1])
        if not best.converged:
            warnings.warn(
                f"VariationalFactorial had not converged after max_iter={self.max_iter} passes; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.parameters_ = best.parameters
        self.objective_curve_ = best.curve
        self.n_iter_ = len(best.curve)
        self.converged_ = best.converged
        return self

    def _run(self, sequences: Sequences, parameters: FactorialParameters) -> _Run:
        floor = FLOOR * np.diag(parameters.covariance)
        curve: list[float] = []
        beliefs: list[np.ndarray] | None = None
        for _ in self._steps(range(self.max_iter), "pass", self.max_iter):
            posterior = believe(parameters, sequences, beliefs, FEW_SWEEPS, 0.0)
            curve.append(posterior.bound)
            if len(curve) > 1 and curve[-1] - curve[-2] <= self.tol * sequences.n_steps:
                return _Run(parameters, curve, True)
            beliefs = posterior.probabilities
            parameters = improved(parameters, sequences, posterior, floor)
        return _Run(parameters, curve, False)

    @classmethod
    def from_parameters(cls, parameters: FactorialParameters) -> "VariationalFactorial":
        """Return a model with known parameters, ready for use without learning.

        Parameters
        ----------
        parameters
            Parameters of the chains.
        """
        check_factorial(parameters)
        model = cls(parameters.sizes)
        model.n_features_in_ = len(parameters.covariance)
        model.parameters_ = parameters
        return model

    def _read(self, X: Any, lengths: Any) -> Sequences:
        check_is_fitted(self)
        return checked_sequences(self, X, lengths, False)

    def infer(self, X: Any, lengths: Any = None) -> ChainBeliefs:
        """Return the posteriors of the chains and the bound of the log-likelihood."""
        return believe(self.parameters_, self._read(X, lengths))

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Return a lower bound of the log-likelihood of all sequences together."""
        return self.infer(X, lengths).bound

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the state of each chain at each step, one column per chain."""
        sequences = self._read(X, lengths)
        beliefs = believe(self.parameters_, sequences).probabilities
        return sequences.give_back(best_chain_paths(self.parameters_, sequences, beliefs))

    def sample(
        self, n_steps: int = 1, n_sequences: int = 1, *, random_state: Seed = None
    ) -> SampledSequences:
        """Return sequences drawn as by `HiddenMarkovModel`; states have one column per chain."""
        check_is_fitted(self)
        count = check_count(n_steps, "n_steps")
        random, parameters = generator(random_state), self.parameters_
        root = np.linalg.cholesky(parameters.covariance)
        observations, states = [], []
        for _ in range(check_count(n_sequences, "n_sequences")):
            paths = [
                MarkovChain.from_parameters(first, matrix).sample(count, random_state=random)[0]
                for first, matrix in zip(parameters.initial, parameters.transitions, strict=True)
            ]
            pairs = zip(parameters.contributions, paths, strict=True)
            shown = sum(rows[path] for rows, path in pairs)
            observations.append(shown + random.standard_normal(shown.shape) @ root.T)
            states.append(np.column_stack(paths))
        return SampledSequences(observations, states)

    def gibbs(
        self,
        X: Any,
        lengths: Any = None,
        *,
        n_iter: int = 200,
        burn_in: int = 50,
        random_state: Seed = None,
    ) -> list[np.ndarray]:
        """Return the posterior of each chain, estimated from draws of the exact one.

        Parameters
        ----------
        X, lengths
            As in `fit`.
        n_iter
            Number of sweeps over the chains.
        burn_in
            Sweeps that are not counted.
        random_state
            Seed of the draws.
        """
        if not 0 <= burn_in < n_iter:
            raise DataError(f"burn_in is {burn_in}; it must be from 0 to n_iter={n_iter} - 1.")
        sequences = self._read(X, lengths)
        random = generator(random_state)
        return draw_chains(self.parameters_, sequences, n_iter, burn_in, random)


def _start(
    sequences: Sequences, sizes: tuple[int, ...], random: np.random.Generator
) -> FactorialParameters:
    plain = GaussianEmission("full").blank(None, sequences.values, 1)
    scale = np.sqrt(plain.spread / len(sizes))
    contributions = tuple(
        plain.origin / len(sizes) + scale * random.standard_normal((size, len(scale)))
        for size in sizes
    )
    matrices = tuple(0.5 * np.eye(size) + 0.5 / size for size in sizes)
    initial = tuple(np.full(size, 1.0 / size) for size in sizes)
    return FactorialParameters(initial, matrices, contributions, np.diag(plain.spread))
