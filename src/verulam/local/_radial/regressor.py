"""A radial basis function network that predicts numbers."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, Regressor, Seed, check_is_fitted
from verulam.local._radial.network import RBFNetwork
from verulam.local._radial.rules import FuzzyRule
from verulam.local._radial.training import NumberTargets
from verulam.local._radial.units import FloatArray
from verulam.numerics import AdaptiveRate, Schedule


class RBFNetworkRegressor(NumberTargets, RBFNetwork, Regressor):
    r"""Radial basis function network for regression: a sum of bells, each with its weight.

    .. math:: y_i = \sum_h w_{ih}\, p_h + w_{i0}, \qquad
              p_h = \exp\Bigl[-\tfrac12 (x - m_h)^T S_h^{-1} (x - m_h)\Bigr]

    Parameters
    ----------
    n_units
        Number of units.
    init : "k-means", "online", "mixture", "random" or array of shape (n_units, n_features)
        Where centres are placed: by k-means, by k-means that learns row by row, by a mixture of
        Gaussians, whose covariances are taken too, at rows drawn at random (anchors), or there.
    covariance_type
        Form of the units: "spherical" with one spread :math:`s_h`, "diag" with one for each
        column, "full" with a matrix :math:`S_h`.
    bandwidth : "farthest", float or array
        Spreads: a share of the distance of the farthest row that a unit owns, or numbers in the
        units of the columns; covariances for "full".
    spread_share
        That share. With a half, as Alpaydin has it, bells are apart and rules can be read one by
        one; with one or two they overlap, which often predicts better.
    combination
        "sum" adds up the bells; "normalised" shares every row, :math:`g_h = p_h / \sum_l p_l`,
        so that outputs are found also far away; with "competitive" each unit stands for the target
        alone, with share :math:`g_h` in a mixture of Gaussians.
    training
        "hybrid" leaves the units where clustering put them and solves for the weights; "gradient"
        goes on from there with all parameters; "em" maximises the joint likelihood of inputs and
        targets, "em-gradient" then that of the targets alone; "none" takes `rules` as they are.
    linear_part
        Whether a linear rule :math:`v^T x` stands beside the units, which are then its exceptions.
    rules : str, list or None
        Prior knowledge that units start from, as `verulam.local.parse_rules` reads it.
    rule_width
        Spread of conditions that name none, in standard deviations of their column.
    unit_priors
        Whether the units' weights :math:`a_h` in shares are "equal" or "learned"; "em" learns them.
    noise_scale : "learned" or float
        Standard deviation of the targets around a competing unit.
    alpha
        Strength of the penalty on the squared weights of the units, for targets of deviation 1.
    solver
        "lbfgs", "cg" and "newton-cg" use all rows at once; "adam" and "sgd" step after each batch,
        with "hybrid" for the weights alone.
    learning_rate : float, Schedule or AdaptiveRate
        Rate of the steps of "adam" and "sgd".
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int or "all"
        Rows of a step; 1 is online learning.
    max_iter
        Most epochs, or steps of expectation-maximisation.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs; solvers that use
        all rows compare `tol` with the gradient, expectation-maximisation with the gain per row.
    n_init
        Starts, of which the best is taken.
    random_state
        Seed of centres and orders.

    Attributes
    ----------
    units_ : RadialUnits
        Centres and squared spreads, also as `centers_` and `covariances_`.
    coef_ : ndarray of shape (n_units,) or (n_targets, n_units)
        Weight of each unit.
    intercept_ : float or ndarray
        The output where no unit is active.
    linear_coef_ : ndarray
        Weights of the columns in the linear part.
    unit_priors_ : ndarray of shape (n_units,)
        Weights of the units in shares, which sum to 1.
    history_ : DataFrame
        A row for each epoch of descent.
    log_likelihoods_ : ndarray
        What each step of expectation-maximisation reached; it never falls.
    n_parameters_ : int
        Numbers that training has chosen.
    n_iter_ : int
        Epochs and steps.
    loss_ : float
        Mean training error, for targets of deviation 1.

    Notes
    -----
    See Alpaydin 12.3 (12.13-12.19, 12.22), 12.4, 12.5 (12.24-12.27), 12.6 (12.28-12.36) and
    SIT1305 V. The printed steps (12.41-12.43) can lower the likelihood, since their gate has no
    normalising constants; ours maximise the joint density of Xu, Jordan and Hinton (1995), which
    never falls. Centres stay among the rows and spreads within a factor of 1000 of theirs.
    Distances are those of the columns as they are: bring them to a common scale first.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import RBFNetworkRegressor
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.sin(6 * x[:, 0])
    >>> hybrid = RBFNetworkRegressor(5, random_state=0).fit(x, y)
    >>> trained = RBFNetworkRegressor(5, training="gradient", random_state=0).fit(x, y)
    >>> bool(trained.score(x, y) > 0.999 > hybrid.score(x, y))
    True
    >>> trained.n_parameters_
    16
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = RBFNetwork._parameter_constraints

    def __init__(
        self,
        n_units: int = 20,
        *,
        init: Any = "k-means",
        covariance_type: str = "spherical",
        bandwidth: Any = "farthest",
        spread_share: float = 0.5,
        combination: str = "sum",
        training: str = "hybrid",
        linear_part: bool = False,
        rules: str | Sequence[Any] | None = None,
        rule_width: float = 0.5,
        unit_priors: str = "equal",
        noise_scale: float | str = "learned",
        alpha: float = 1e-4,
        solver: str = "lbfgs",
        learning_rate: float | Schedule | AdaptiveRate = 0.01,
        momentum: float = 0.9,
        batch_size: int | str = 32,
        max_iter: int = 500,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.n_units = n_units
        self.init = init
        self.covariance_type = covariance_type
        self.bandwidth = bandwidth
        self.spread_share = spread_share
        self.combination = combination
        self.training = training
        self.linear_part = linear_part
        self.rules = rules
        self.rule_width = rule_width
        self.unit_priors = unit_priors
        self.noise_scale = noise_scale
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["RBFNetworkRegressor"]:
        return [
            cls(),
            cls(4, training="gradient", tol=0.01),
            cls(3, combination="competitive", training="em-gradient", tol=0.01),
        ]

    def _rule_outputs(
        self, rules: Sequence[FuzzyRule], default: Sequence[FuzzyRule]
    ) -> tuple[FloatArray, FloatArray]:
        if len(self._target_scale) > 1:
            raise DataError("rules state one output; y has several columns.")
        for rule in (*rules, *default):
            if isinstance(rule.value, str):
                raise DataError(f"rules: {str(rule)!r} states no number for its output.")
        values = np.array([[rule.value] for rule in rules], dtype=np.float64)
        scale, origin = self._target_scale, self._target_origin
        rest = np.array([default[0].value if default else 0.0], dtype=np.float64)
        # The sum of bells adds to the default; shares have the output itself.
        outputs = values / scale if self.combination == "sum" else (values - origin) / scale
        return outputs, (rest - origin) / scale

    @property
    def coef_(self) -> FloatArray:
        """Weight of each unit."""
        outputs, _ = self._output_table()
        coefficients = outputs * self._target_scale
        if self.combination != "sum" and not self.linear_part:
            coefficients = coefficients + self._target_origin
        return coefficients[:, 0] if self._single else coefficients.T

    @property
    def intercept_(self) -> Any:
        """The output where no unit is active; where columns are zero, with a linear part."""
        _, intercepts = self._output_table()
        if self.combination != "sum" and not self.linear_part:
            return 0.0 if self._single else np.zeros(len(self._target_scale))
        numbers = intercepts * self._target_scale + self._target_origin
        if self.linear_part:
            numbers = numbers - np.atleast_2d(self.linear_coef_) @ self._origin
        return float(numbers[0]) if self._single else numbers

    @property
    def linear_coef_(self) -> FloatArray:
        """Weights of the columns in the linear part."""
        check_is_fitted(self)
        n_outputs = self.model_.n_outputs
        table = self.model_.split(self.parameters_)[2].reshape(-1, n_outputs)[1:]
        slopes = (table * self._target_scale / self._scale).T
        return slopes[0] if self._single else slopes

    @property
    def noise_(self) -> Any:
        """Standard deviation of the targets around a competing unit."""
        check_is_fitted(self)
        if not self.model_.competitive:
            raise AttributeError("noise_ is there where units compete (combination).")
        numbers = np.exp(self.parameters_[-1]) * self._target_scale
        return float(numbers[0]) if self._single else numbers

    def extract_rules(self) -> list[FuzzyRule]:
        """Return what the network has learned as rules: one for each unit, then the default.

        Notes
        -----
        See Alpaydin 12.4. Correlations of "full" units are left out of their rules, and so is a
        linear part, whose intercept is the default.

        Examples
        --------
        >>> import numpy as np
        >>> from verulam.local import RBFNetworkRegressor
        >>> text = "IF (x0 ≈ 1 ± 0.5 AND x1 ≈ 2 ± 0.5) OR x2 ≈ 3 ± 0.5 THEN y = 0.1"
        >>> learner = RBFNetworkRegressor(rules=text, covariance_type="diag", training="none")
        >>> learner.fit(np.random.default_rng(0).normal(size=(9, 3)), np.arange(9.0))
        RBFNetworkRegressor(covariance_type='diag', rules=..., training='none')
        >>> learner.predict([[1, 2, 3], [9, 9, 3]]).round(6)
        array([0.2, 0.1])
        >>> print(*learner.extract_rules(), sep="; ")
        IF x0 ≈ 1 ± 0.5 AND x1 ≈ 2 ± 0.5 THEN y = 0.1; IF x2 ≈ 3 ± 0.5 THEN y = 0.1; ELSE y = 0
        """
        check_is_fitted(self)
        if not self._single:
            raise DataError("Rules state one output; this network has several.")
        rules = [
            FuzzyRule(conditions, float(value))
            for conditions, value in zip(self._unit_conditions(), self.coef_, strict=True)
        ]
        if self.combination == "sum":
            # Rounding of the scale of the targets is no default.
            rest = self.intercept_
            negligible = abs(rest) < 1e-12 * float(np.abs(self._target_origin).max() + 1.0)
            rules.append(FuzzyRule((), 0.0 if negligible else rest))
        return rules
