"""A radial basis function network that tells classes apart."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from verulam.base import Classifier, DataError, Seed, check_is_fitted, unknown_name
from verulam.local._radial.mixing import softmax_rows
from verulam.local._radial.network import RBFNetwork
from verulam.local._radial.rules import ROUNDING, Condition, FuzzyRule
from verulam.local._radial.training import ClassTargets
from verulam.local._radial.units import FloatArray
from verulam.numerics import AdaptiveRate, Schedule

#: Probability of the class of a rule that states none.
CERTAINTY = 0.9
#: What stands for a probability too small to be written.
LEAST_PROBABILITY = 1e-300


class RBFNetworkClassifier(ClassTargets, RBFNetwork, Classifier):
    r"""Radial basis function network for classification: the softmax of sums of bells.

    .. math:: y_i = \frac{\exp[\sum_h w_{ih} p_h + w_{i0}]}{\sum_k \exp[\sum_h w_{kh} p_h + w_{k0}]}

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
        "sum" adds up the bells; "normalised" shares every row, :math:`g_h = p_h / \sum_l p_l`;
        with "competitive" each unit has probabilities of the classes, which are mixed by
        :math:`g_h`.
    training
        "hybrid" leaves the units where clustering put them and finds the weights; "gradient" goes
        on from there with all parameters; "em" maximises the joint likelihood of inputs and
        classes, "em-gradient" then that of the classes alone; "none" takes `rules` as they are.
    linear_part
        Whether a linear rule :math:`v_i^T x` stands beside the units, which are then its
        exceptions.
    rules : str, list or None
        Prior knowledge that units start from, as `verulam.local.parse_rules` reads it.
    rule_width
        Spread of conditions that name none, in standard deviations of their column.
    unit_priors
        Whether the units' weights :math:`a_h` in shares are "equal" or "learned"; "em" learns them.
    alpha
        Strength of the penalty on the squared weights of the units.
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
    classes_ : ndarray
        Labels, sorted.
    units_ : RadialUnits
        Centres and squared spreads, also as `centers_` and `covariances_`.
    coef_ : ndarray of shape (n_classes, n_units)
        Weight of each unit for each class; of units that compete, logarithms up to a constant.
    intercept_ : ndarray of shape (n_classes,)
        Weights where no unit is active.
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
        Mean training error.

    Notes
    -----
    See Alpaydin 12.3 (12.20, 12.21), 12.5, 12.6 (12.37-12.40) and SIT1305 V. What is said of
    `verulam.local.RBFNetworkRegressor` holds here too. For other output layers, put
    `verulam.local.RBFFeatures` in front of any classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import RBFNetworkClassifier
    >>> xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> circles = RBFNetworkClassifier(init=[[0, 1], [1, 0]], bandwidth=0.5).fit(xor, [0, 1, 1, 0])
    >>> circles.unit_shares(xor).sum(axis=1).round(3)
    array([0.271, 1.018, 1.018, 0.271])
    >>> circles.predict(xor)
    array([0, 1, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraint
        for name, constraint in RBFNetwork._parameter_constraints.items()
        if name != "noise_scale"
    }
    #: Classes have no noise.
    noise_scale = "learned"

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
    def _example_learners(cls) -> list["RBFNetworkClassifier"]:
        return [
            cls(),
            cls(4, training="gradient", tol=0.01),
            cls(3, combination="competitive", training="em-gradient", tol=0.01),
        ]

    def _rule_outputs(
        self, rules: Sequence[FuzzyRule], default: Sequence[FuzzyRule]
    ) -> tuple[FloatArray, FloatArray]:
        return (
            np.array([self._logits(rule) for rule in rules]),
            self._logits(default[0]) if default else np.zeros(len(self.classes_)),
        )

    def _logits(self, rule: FuzzyRule) -> FloatArray:
        """Return the weights with which classes have the probabilities of a rule."""
        certainty = CERTAINTY if rule.certainty is None else rule.certainty
        named = {self._class_place(rule.value): certainty}
        for name, probability in rule.others:
            place = self._class_place(name)
            if place in named:
                raise DataError(f"rules: {str(rule)!r} names the class {name!r} twice.")
            named[place] = probability
        absent = len(self.classes_) - len(named)
        rest = 1.0 - sum(named.values())
        if absent and not rest > 0:
            raise DataError(f"rules: {str(rule)!r} leaves no probability for the other classes.")
        probabilities = np.full(len(self.classes_), rest / absent if absent else 0.0)
        probabilities[list(named)] = list(named.values())
        logarithms = np.log(probabilities)
        return logarithms - logarithms.mean()

    def _class_place(self, name: str | float) -> int:
        labels = [str(label) for label in self.classes_.tolist()]
        if isinstance(name, float):
            numeric = self.classes_.dtype.kind in "iuf"
            equal = self.classes_ == name if numeric else np.zeros(len(labels), dtype=bool)
            name = labels[int(equal.argmax())] if equal.any() else f"{name:g}"
        if name not in labels:
            raise unknown_name("class in rules:", name, labels)
        return labels.index(name)

    @property
    def coef_(self) -> FloatArray:
        """Weight of each unit for each class."""
        return self._output_table()[0].T

    @property
    def intercept_(self) -> FloatArray:
        """Weights where no unit is active; where columns are zero, with a linear part."""
        check_is_fitted(self)
        _, intercepts = self._output_table()
        if self.linear_part:
            return intercepts - self.linear_coef_ @ self._origin
        return intercepts

    @property
    def linear_coef_(self) -> FloatArray:
        """Weights of the columns in the linear part, classes by columns."""
        check_is_fitted(self)
        n_outputs = self.model_.n_outputs
        table = self.model_.split(self.parameters_)[2].reshape(-1, n_outputs)[1:]
        return (table / self._scale).T

    def extract_rules(self) -> list[FuzzyRule]:
        """Return what the network has learned as rules: one for each unit, then the default.

        The class of a rule is the most probable where its unit is active alone, with that
        probability; those of the other classes follow where they are not all the same. Rules of
        "diag" units without a linear part, with equal priors, make the same network again.

        Notes
        -----
        See Alpaydin 12.4. Correlations of "full" units, a linear part and learned weights of units
        in shares are left out.
        """
        outputs, intercepts = self._output_table()
        rows = np.vstack([outputs, intercepts])
        probabilities = np.maximum(softmax_rows(rows), LEAST_PROBABILITY)
        labels = [str(label) for label in self.classes_.tolist()]
        conditions = [*self._unit_conditions(), ()]
        rules = [
            _class_rule(parts, labels, row)
            for parts, row in zip(conditions, probabilities, strict=True)
        ]
        return rules if self.combination == "sum" else rules[:-1]


def _class_rule(
    conditions: tuple[Condition, ...], labels: Sequence[str], probabilities: FloatArray
) -> FuzzyRule:
    """Return the rule of one unit, with all probabilities that the reader could not tell."""
    best = int(probabilities.argmax())
    certainty = float(probabilities[best])
    even = (1.0 - certainty) / (len(labels) - 1)
    others = [
        (label, float(probability))
        for place, (label, probability) in enumerate(zip(labels, probabilities, strict=True))
        if place != best
    ]
    if all(abs(even - probability) <= ROUNDING * probability for _, probability in others):
        others = []
    return FuzzyRule(conditions, labels[best], certainty, tuple(others))
