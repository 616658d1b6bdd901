"""Linear discrimination: every way to draw a line between classes."""

from verulam.base import publish as _publish
from verulam.linear._basis import BasisExpansion
from verulam.linear._boolean import (
    CellApproximator,
    ThresholdNetwork,
    ThresholdUnit,
    boolean_inputs,
    build_approximator,
    is_separable,
    known_unit,
    network_for,
    truth_table,
)
from verulam.linear._criteria import LineCriterion, line_criterion
from verulam.linear._descent import (
    Descent,
    gradient_descent,
    newton_descent,
    online_descent,
    optimal_rate,
)
from verulam.linear._descent_discriminant import DescentDiscriminant
from verulam.linear._evidence import TwoClassEvidence, two_class_evidence
from verulam.linear._generalised import GeneralisedLinear
from verulam.linear._geometry import Hyperplane, augment, sign_normalise, solution_region
from verulam.linear._gradient_logistic import GradientLogistic
from verulam.linear._layers import LinearLayer
from verulam.linear._least_mean_squares import LeastMeanSquares
from verulam.linear._logistic import LogisticDiscriminant
from verulam.linear._madaline import Madaline
from verulam.linear._multiclass import OneVersusRest, PairwiseClassifier
from verulam.linear._online_regression import OnlineRegression
from verulam.linear._optimisers import minimise
from verulam.linear._perceptrons import BatchPerceptron, FarthestMarginPerceptron, Perceptron
from verulam.linear._pocket import PocketPerceptron
from verulam.linear._preferences import (
    Preferences,
    preferences_from_clicks,
    preferences_from_order,
    preferences_from_relevance,
)
from verulam.linear._problem import Trajectory
from verulam.linear._programs import LinearProgramDiscriminant
from verulam.linear._quadratic_logistic import QuadraticLogistic
from verulam.linear._ranking import (
    LinearRanker,
    kendall_tau,
    mean_average_precision,
    ndcg,
    rerank,
)
from verulam.linear._relaxation import Relaxation
from verulam.linear._scorecard import Scorecard
from verulam.linear._separability import (
    Separability,
    one_versus_rest_separability,
    pairwise_separability,
    separability,
)
from verulam.linear._squared_error import HoKashyap, MinimumSquaredError
from verulam.linear._stage import LineComparison, compare_lines, line_trainers
from verulam.linear._voted import VotedPerceptron
from verulam.linear._winnow import BalancedWinnow

__all__ = [
    "BalancedWinnow",
    "BasisExpansion",
    "BatchPerceptron",
    "CellApproximator",
    "Descent",
    "DescentDiscriminant",
    "FarthestMarginPerceptron",
    "GeneralisedLinear",
    "GradientLogistic",
    "HoKashyap",
    "Hyperplane",
    "LeastMeanSquares",
    "LineComparison",
    "LineCriterion",
    "LinearLayer",
    "LinearProgramDiscriminant",
    "LinearRanker",
    "LogisticDiscriminant",
    "Madaline",
    "MinimumSquaredError",
    "OneVersusRest",
    "OnlineRegression",
    "PairwiseClassifier",
    "Perceptron",
    "PocketPerceptron",
    "Preferences",
    "QuadraticLogistic",
    "Relaxation",
    "Scorecard",
    "Separability",
    "ThresholdNetwork",
    "ThresholdUnit",
    "Trajectory",
    "TwoClassEvidence",
    "VotedPerceptron",
    "augment",
    "boolean_inputs",
    "build_approximator",
    "compare_lines",
    "gradient_descent",
    "is_separable",
    "kendall_tau",
    "known_unit",
    "line_criterion",
    "line_trainers",
    "mean_average_precision",
    "minimise",
    "ndcg",
    "network_for",
    "newton_descent",
    "one_versus_rest_separability",
    "online_descent",
    "optimal_rate",
    "pairwise_separability",
    "preferences_from_clicks",
    "preferences_from_order",
    "preferences_from_relevance",
    "rerank",
    "separability",
    "sign_normalise",
    "solution_region",
    "truth_table",
    "two_class_evidence",
]

_publish(__name__)
