"""What several chains show: the sum of their contributions, or each something of its own."""

from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError
from verulam.sequence._chains.product_states import chain_posteriors, check_sizes, split_states
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.gaussian import (
    GaussianEmission,
    GaussianStates,
    GaussianSums,
    raise_eigenvalues,
)
from verulam.sequence._emissions.multistream import (
    StreamEmission,
    StreamRecord,
    StreamValues,
    side_by_side,
)
from verulam.sequence._learners.initialisation import Survey, start_model
from verulam.sequence._model.emission import Emission, hold_fixed
from verulam.sequence._model.parameters import HMMParts, InitialProbabilities, TransitionMatrix

NAMES = ("contributions", "covariances")


@dataclass(frozen=True)
class AdditiveStates(GaussianStates):
    """Parameters of additive emissions.

    Attributes
    ----------
    means, covariances, origin, spread
        As in `GaussianStates`: one mean per combined state, one covariance for all.
    contributions : ndarray of shape (sum of sizes, n_columns)
        What each state of each chain adds to the mean, chain after chain.
    """

    contributions: np.ndarray


@dataclass(frozen=True)
class AdditiveEmission(Emission):
    r"""Chains add up: the mean is a sum of what each chain's state contributes.

    Parameters
    ----------
    sizes
        Number of states of each chain.
    variance_floor
        Least variance, as a fraction of a column's variance over the first steps.
    contributions
        What each state of each chain adds, chain after chain, to start from.
    covariances
        One covariance matrix for all states, to start from.
    fixed
        Names of parameters to hold at their start, "contributions" and "covariances".

    Notes
    -----
    :math:`x_t \sim \mathcal N(\sum_k w_k(q_t^k), \Sigma)`, the factorial hidden Markov model
    (Alpaydin 15.9, fig. 15.6b; [ghahramani1997]_). A constant can move from one chain to another
    without changing the sum; the shortest contributions are chosen.

    References
    ----------
    .. [ghahramani1997] Z. Ghahramani and M. I. Jordan, "Factorial hidden Markov models",
       Machine Learning 29, 1997.

    Examples
    --------
    >>> from verulam.sequence import AdditiveEmission
    >>> emission = AdditiveEmission(
    ...     (2, 2), contributions=[[0.0], [1.0], [0.0], [5.0]], covariances=[[1.0]]
    ... )
    >>> emission.with_start_values(emission.ready(4, 1)).means.ravel()
    array([0., 5., 1., 6.])
    """

    sizes: tuple[int, ...]
    variance_floor: float = 1e-6
    contributions: Any = None
    covariances: Any = None
    fixed: tuple[str, ...] = ()

    @property
    def _gaussian(self) -> GaussianEmission:
        # Densities and sums are those of a Gaussian for each combined state; the M step differs.
        return GaussianEmission("tied", self.variance_floor)

    @property
    def design(self) -> np.ndarray:
        """Which contributions each combined state adds up, one row per state."""
        sizes = check_sizes(self.sizes)
        states = split_states(np.arange(prod(sizes)), sizes)
        return np.hstack([np.eye(size)[states[:, k]] for k, size in enumerate(sizes)])

    @property
    def complete(self) -> bool:
        """Whether contributions and covariance are given."""
        return self.contributions is not None and self.covariances is not None

    def encode(self, sequences: Sequences, parameters: Any = None) -> np.ndarray:
        """Return the rows as C-ordered float64."""
        return self._gaussian.encode(sequences)

    def blank(self, survey: Any, head: np.ndarray, n_states: int) -> AdditiveStates:
        """Return equal contributions that add up to the overall mean."""
        plain = self._gaussian.blank(survey, head, n_states)
        rows = np.repeat(plain.origin[None] / len(self.sizes), sum(self.sizes), axis=0)
        return AdditiveStates(
            plain.means, plain.covariances, plain.origin, plain.spread, contributions=rows
        )

    def with_start_values(self, parameters: AdditiveStates) -> AdditiveStates:
        """Return the parameters with the start values that the user has set."""
        for name in NAMES:
            value = getattr(self, name)
            if value is None:
                continue
            array = np.array(value, dtype=np.float64)
            expected = getattr(parameters, name).shape
            if array.shape != expected:
                raise DataError(
                    f"{name} of AdditiveEmission has shape {array.shape}; expected {expected}."
                )
            parameters = replace(parameters, **{name: array})
        return replace(parameters, means=self.design @ parameters.contributions)

    def features(self, values: Any) -> None:
        """Return nothing: groups of steps do not say which chain is in which state."""

    def jitter(self, parameters: AdditiveStates, random: np.random.Generator) -> AdditiveStates:
        """Return contributions that chance has set apart."""
        noise = random.standard_normal(parameters.contributions.shape)
        scale = np.sqrt(parameters.spread / len(self.sizes))
        rows = parameters.origin / len(self.sizes) + noise * scale
        return replace(parameters, contributions=rows, means=self.design @ rows)

    def log_likelihoods(self, parameters: AdditiveStates, values: np.ndarray) -> np.ndarray:
        """Return the log-densities of what is present in each row."""
        return self._gaussian.log_likelihoods(parameters, values)

    def statistics(
        self, parameters: AdditiveStates, values: np.ndarray, weights: np.ndarray
    ) -> GaussianSums:
        """Return the weighted sums of the combined states."""
        return self._gaussian.statistics(parameters, values, weights)

    def update(self, parameters: AdditiveStates, sums: GaussianSums) -> AdditiveStates:
        """Return the regression of the rows on the states of the chains."""
        weight = sums.weight[:, 0]
        design = self.design
        # The sums are of rows less the origin, lest squares of large values lose the scatter.
        shift = parameters.origin / len(self.sizes)
        rows = parameters.contributions - shift
        if "contributions" not in self.fixed:
            products = design.T @ (weight[:, None] * design)
            # A constant may move from one chain to another: of all solutions, the shortest.
            rows = np.linalg.lstsq(products, design.T @ sums.sums, rcond=1e-10)[0]
        means = design @ rows
        cross = means.T @ sums.sums
        scatter = sums.squares.sum(axis=0) - cross - cross.T + means.T @ (weight[:, None] * means)
        covariance = raise_eigenvalues(
            scatter / max(float(weight.sum()), 1e-300), parameters.spread, self.variance_floor
        )
        new = replace(
            parameters,
            contributions=rows + shift,
            means=means + parameters.origin,
            covariances=covariance,
        )
        return hold_fixed(self, NAMES, parameters, new)

    def sample(
        self, parameters: AdditiveStates, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one row per combined state."""
        return self._gaussian.sample(parameters, states, random)

    def expected(self, parameters: AdditiveStates) -> np.ndarray:
        """Return the means of the combined states."""
        return parameters.means

    def n_parameters(self, parameters: AdditiveStates) -> int:
        """Return the free numbers: a constant may move between chains."""
        width = parameters.means.shape[1]
        free = {
            "contributions": (sum(self.sizes) - len(self.sizes) + 1) * width,
            "covariances": width * (width + 1) // 2,
        }
        return sum(size for name, size in free.items() if name not in self.fixed)

    def take(self, parameters: AdditiveStates, states: np.ndarray) -> Any:
        """Raise: combinations cannot be removed one by one."""
        raise DataError("States of AdditiveEmission cannot be removed; use empty_states='keep'.")


@dataclass(frozen=True)
class ChainEmission(Emission):
    r"""Each chain shows something of its own, in columns of its own.

    Parameters
    ----------
    sizes
        Number of states of each chain.
    emissions_by_chain
        The emission of each chain.
    columns
        How many columns of the data each chain shows, from left to right; None for one each.

    Notes
    -----
    :math:`P(O_t \mid q_t) = \prod_k b^k_{q_t^k}(O_t^k)`: sound and lips, say, of coupled chains
    (Alpaydin 15.9, fig. 15.6c). The start groups the steps chain by chain.

    Examples
    --------
    >>> from verulam.sequence import ChainEmission, GaussianEmission
    >>> emission = ChainEmission((2, 3), (GaussianEmission(), GaussianEmission()))
    >>> emission.chain_states.tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """

    sizes: tuple[int, ...]
    emissions_by_chain: tuple[Emission, ...]
    columns: tuple[int, ...] | None = None

    numeric: ClassVar[bool] = False

    @property
    def _streams(self) -> StreamEmission:
        if len(self.sizes) != len(self.emissions_by_chain):
            raise DataError(
                f"ChainEmission has {len(self.sizes)} sizes and {len(self.emissions_by_chain)} "
                "emissions; expected one each per chain."
            )
        return StreamEmission(tuple(self.emissions_by_chain), self.columns)

    @property
    def chain_states(self) -> np.ndarray:
        """State of each chain in each combined state."""
        sizes = check_sizes(self.sizes)
        return split_states(np.arange(prod(sizes)), sizes)

    @property
    def complete(self) -> bool:
        """Return True: the start comes of `blank`, chain by chain."""
        return True

    def for_data(self, rows: np.ndarray) -> "ChainEmission":
        """Return the emissions with what they take from the raw rows."""
        known = self._streams.for_data(rows).emissions_by_stream
        return replace(self, emissions_by_chain=known)

    def encode(self, sequences: Sequences, parameters: Any = None) -> StreamValues:
        """Return the encoded values of each chain."""
        return self._streams.encode(sequences, parameters)

    def survey(self, values: StreamValues) -> StreamRecord:
        """Return the surveys of the chains."""
        return self._streams.survey(values)

    def blank(self, survey: StreamRecord, head: StreamValues, n_states: int) -> StreamRecord:
        """Return each chain's parameters, from steps grouped by what that chain shows."""
        return self.first(survey, head, n_states, "k-means", np.random.default_rng(0))

    def first(
        self,
        survey: StreamRecord,
        head: StreamValues,
        n_states: int,
        init: str,
        random: np.random.Generator,
    ) -> StreamRecord:
        """Return each chain's start by itself."""
        steps = np.array([0, len(head)])
        started = []
        for part, chain_survey, values, size in zip(
            self.emissions_by_chain, survey.parts, head.parts, self.sizes, strict=True
        ):
            # As if each chain were alone with its columns: which of the others' states goes with
            # which of its own is for the first pass to find out.
            parts = HMMParts(InitialProbabilities(), TransitionMatrix(), part)
            known = Survey((Sequences(values, steps),), len(head), 1, 0, chain_survey)
            started.append(start_model(parts, known, size, init, random).emission)
        return StreamRecord(tuple(started))

    def ready(self, n_states: int, n_columns: int) -> StreamRecord:
        """Return the parameters for a model with known values."""
        widths = self.columns or (1,) * len(self.sizes)
        return StreamRecord(
            tuple(
                part.with_start_values(part.ready(size, width))
                for part, size, width in zip(
                    self.emissions_by_chain, self.sizes, widths, strict=True
                )
            )
        )

    def log_likelihoods(self, parameters: StreamRecord, values: StreamValues) -> np.ndarray:
        """Return the sum of the chains' logarithms."""
        states = self.chain_states
        # Computed once for each state of a chain, and repeated for all combinations that have it.
        tables = [
            part.log_likelihoods(record, chain_values)[:, states[:, chain]]
            for chain, (part, record, chain_values) in enumerate(
                zip(self.emissions_by_chain, parameters.parts, values.parts, strict=True)
            )
        ]
        return np.sum(tables, axis=0)

    def statistics(
        self, parameters: StreamRecord, values: StreamValues, weights: np.ndarray
    ) -> StreamRecord:
        """Return the sums of the chains, each weighted by its own states."""
        parts = zip(
            self.emissions_by_chain,
            parameters.parts,
            values.parts,
            chain_posteriors(weights, self.sizes),
            strict=True,
        )
        return StreamRecord(
            tuple(
                part.statistics(record, chain_values, weight)
                for part, record, chain_values, weight in parts
            )
        )

    def update(self, parameters: StreamRecord, sums: StreamRecord) -> StreamRecord:
        """Return the parameters of the chains."""
        return self._streams.update(parameters, sums)

    def sample(
        self, parameters: StreamRecord, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one row per combined state."""
        by_chain = split_states(states, self.sizes)
        return side_by_side(
            [
                part.sample(record, by_chain[:, chain], random)
                for chain, (part, record) in enumerate(
                    zip(self.emissions_by_chain, parameters.parts, strict=True)
                )
            ]
        )

    def expected(self, parameters: StreamRecord) -> np.ndarray:
        """Return the expected rows side by side."""
        states = self.chain_states
        return np.hstack(
            [
                part.expected(record)[states[:, chain]]
                for chain, (part, record) in enumerate(
                    zip(self.emissions_by_chain, parameters.parts, strict=True)
                )
            ]
        )

    def n_parameters(self, parameters: StreamRecord) -> int:
        """Return the free numbers of all chains."""
        return self._streams.n_parameters(parameters)

    def n_states(self, parameters: StreamRecord) -> int:
        """Return the number of combined states."""
        return prod(self.sizes)

    def concerns(self, parameters: StreamRecord) -> list[str]:
        """Return what to warn of in the chains, which are named by their place."""
        return self._streams.concerns(parameters)

    def log_prior(self, parameters: StreamRecord) -> float:
        """Return the sum of the chains' priors."""
        return self._streams.log_prior(parameters)
