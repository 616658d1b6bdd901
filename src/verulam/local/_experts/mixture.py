"""Mixtures of experts for numbers and for classes."""

from numbers import Integral
from typing import Any, ClassVar

from verulam.base import Classifier, Interval, Regressor, Seed
from verulam.local._experts.learner import ExpertsLearner
from verulam.local._experts.outputs import ClassExperts, NumberExperts
from verulam.local._experts.parts import Branches, even_tree
from verulam.local._radial.placing import possible_units
from verulam.local._radial.units import FloatArray
from verulam.numerics import AdaptiveRate, Schedule


class MixtureOfExpertsRegressor(NumberExperts, Regressor):
    r"""Mixture of experts for regression: linear functions, and gates that say where each holds.

    .. math:: y_i = \sum_h g_h\, v_{ih}^T x, \qquad
              g_h = \frac{\exp[m_h^T x]}{\sum_l \exp[m_l^T x]}

    Parameters
    ----------
    n_experts
        Number of experts.
    gate
        "softmax" of linear functions, or "radial" units that share the rows by distance.
    covariance_type
        Form of radial units: "spherical", "diag" or "full".
    gate_hidden_units
        Hidden units of a softmax gate, which is then a perceptron; 0 for none.
    hidden_units
        Hidden units of each expert, which is then a perceptron; 0 for linear experts.
    n_directions
        Directions that each expert looks along, for linear experts of a low rank; None for all.
    reduction
        Whether these directions are "learned" with the rest, or those of largest variance among
        the rows that an expert begins with ("pca").
    combination
        "competitive" experts each stand for the target alone, and the likelihood of their mixture
        is maximised; "cooperative" ones add up to one output.
    training
        "em" is expectation-maximisation, "gradient" descent on the error, "em-gradient" both, one
        after the other; experts that cooperate have descent alone.
    noise_scale : "learned" or float
        Standard deviation of the targets around a competing expert.
    alpha
        Strength of the penalty on squared weights, for columns and targets of deviation 1.
    solver
        For descent: "lbfgs", "cg" and "newton-cg" use all rows at once; "adam" and "sgd" step after
        each batch.
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
        Seed of the start and of orders.

    Attributes
    ----------
    n_experts_ : int
        Number of experts.
    coef_, intercept_ : ndarray
        The experts' linear functions of the columns.
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
    See Alpaydin 12.8 (12.46-12.56), 17.8, Bartkowiak 7.6 and SIT1305 V. Columns and targets are
    brought to mean 0 and deviation 1 inside; `coef_` and `intercept_` are in their units. By
    expectation-maximisation, experts are fitted by weighted least squares and gates by iteratively
    reweighted ones (Jordan and Jacobs, 1994); radial gates then maximise the joint likelihood of
    inputs and targets (Xu, Jordan and Hinton, 1995).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsRegressor
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> experts = MixtureOfExpertsRegressor(2, random_state=0).fit(x, np.abs(x[:, 0]))
    >>> np.sort(experts.coef_.ravel()).round(2)
    array([-1.,  1.])
    >>> bool((np.diff(experts.log_likelihoods_) > -1e-8).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_experts": [Interval(Integral, 1, None, closed="left")],
        **ExpertsLearner._gate_constraints,
        **ExpertsLearner._shape_constraints,
        **ExpertsLearner._expert_constraints,
    }

    def __init__(
        self,
        n_experts: int = 4,
        *,
        gate: str = "softmax",
        covariance_type: str = "spherical",
        gate_hidden_units: int = 0,
        hidden_units: int = 0,
        n_directions: int | None = None,
        reduction: str = "learned",
        combination: str = "competitive",
        training: str = "em",
        noise_scale: float | str = "learned",
        alpha: float = 0.1,
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
        self.n_experts = n_experts
        self.gate = gate
        self.covariance_type = covariance_type
        self.gate_hidden_units = gate_hidden_units
        self.hidden_units = hidden_units
        self.n_directions = n_directions
        self.reduction = reduction
        self.combination = combination
        self.training = training
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
    def _example_learners(cls) -> list["MixtureOfExpertsRegressor"]:
        return [
            cls(2, tol=1e-3),
            cls(2, gate="radial", combination="cooperative", training="gradient", tol=0.01),
        ]

    def _tree(self, X: FloatArray) -> Branches:
        count = possible_units(X, int(self.n_experts), "n_experts", "experts")
        return even_tree((count,))


class MixtureOfExpertsClassifier(ClassExperts, Classifier):
    r"""Mixture of experts for classification: linear classifiers, and gates that say where.

    .. math:: y_i = \sum_h g_h \frac{\exp[v_{ih}^T x]}{\sum_k \exp[v_{kh}^T x]}, \qquad
              g_h = \frac{\exp[m_h^T x]}{\sum_l \exp[m_l^T x]}

    Parameters
    ----------
    n_experts
        Number of experts.
    gate
        "softmax" of linear functions, or "radial" units that share the rows by distance.
    covariance_type
        Form of radial units: "spherical", "diag" or "full".
    gate_hidden_units
        Hidden units of a softmax gate, which is then a perceptron; 0 for none.
    hidden_units
        Hidden units of each expert, which is then a perceptron; 0 for linear experts.
    n_directions
        Directions that each expert looks along, for linear experts of a low rank; None for all.
    reduction
        Whether these directions are "learned" with the rest, or those of largest variance among
        the rows that an expert begins with ("pca").
    combination
        "competitive" experts each stand for the target alone, and the likelihood of their mixture
        is maximised; "cooperative" ones add up to one output.
    training
        "em" is expectation-maximisation, "gradient" descent on the error, "em-gradient" both, one
        after the other; experts that cooperate have descent alone.
    alpha
        Strength of the penalty on squared weights, for columns of deviation 1.
    solver
        For descent: "lbfgs", "cg" and "newton-cg" use all rows at once; "adam" and "sgd" step after
        each batch.
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
        Seed of the start and of orders.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    n_experts_ : int
        Number of experts.
    coef_, intercept_ : ndarray
        The experts' linear functions of the columns.
    history_ : DataFrame
        A row for each epoch of descent.
    log_likelihoods_ : ndarray
        What each step of expectation-maximisation reached; it never falls.
    n_parameters_ : int
        Numbers that training has chosen.
    n_iter_ : int
        Epochs and steps.
    loss_ : float
        Mean training error.

    Notes
    -----
    See Alpaydin 12.8 (12.53, 12.57-12.59), Bartkowiak 7.6 and SIT1305 V. Experts that cooperate
    have their linear functions mixed before the softmax (12.53). Columns are brought to mean 0 and
    deviation 1 inside; `coef_` and `intercept_` are in their units. What is said of training in
    `verulam.local.MixtureOfExpertsRegressor` holds here too.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> y = X[:, 1] > np.abs(X[:, 0])
    >>> experts = MixtureOfExpertsClassifier(2, random_state=0).fit(X, y)
    >>> bool(experts.score(X, y) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_experts": [Interval(Integral, 1, None, closed="left")],
        **ExpertsLearner._gate_constraints,
        **ExpertsLearner._shape_constraints,
        **{
            name: constraint
            for name, constraint in ExpertsLearner._expert_constraints.items()
            if name != "noise_scale"
        },
    }

    def __init__(
        self,
        n_experts: int = 4,
        *,
        gate: str = "softmax",
        covariance_type: str = "spherical",
        gate_hidden_units: int = 0,
        hidden_units: int = 0,
        n_directions: int | None = None,
        reduction: str = "learned",
        combination: str = "competitive",
        training: str = "em",
        alpha: float = 0.1,
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
        self.n_experts = n_experts
        self.gate = gate
        self.covariance_type = covariance_type
        self.gate_hidden_units = gate_hidden_units
        self.hidden_units = hidden_units
        self.n_directions = n_directions
        self.reduction = reduction
        self.combination = combination
        self.training = training
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
    def _example_learners(cls) -> list["MixtureOfExpertsClassifier"]:
        return [
            cls(2, tol=1e-3),
            cls(2, gate="radial", combination="cooperative", training="gradient", tol=0.01),
        ]

    def _tree(self, X: FloatArray) -> Branches:
        count = possible_units(X, int(self.n_experts), "n_experts", "experts")
        return even_tree((count,))
