"""Linear discrimination: every way to draw a line between classes."""

from verulam.base import publish as _publish
from verulam.linear._basis.expansion import BasisExpansion
from verulam.linear._basis.quadratic_logistic import QuadraticLogistic
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
from verulam.linear._descent.descent import (
    Descent,
    gradient_descent,
    newton_descent,
    online_descent,
    optimal_rate,
)
from verulam.linear._descent.descent_discriminant import DescentDiscriminant
from verulam.linear._descent.optimisers import minimise
from verulam.linear._descent.programs import LinearProgramDiscriminant
from verulam.linear._descent.squared_error import HoKashyap, MinimumSquaredError
from verulam.linear._logistic.generalised import GeneralisedLinear
from verulam.linear._logistic.gradient_logistic import GradientLogistic
from verulam.linear._logistic.logistic import LogisticDiscriminant
from verulam.linear._multiclass.linear_layer import LinearLayer
from verulam.linear._multiclass.madaline import Madaline
from verulam.linear._multiclass.multiclass import OneVersusRest, PairwiseClassifier
from verulam.linear._online.least_mean_squares import LeastMeanSquares
from verulam.linear._online.online_regression import OnlineRegression
from verulam.linear._online.pocket import PocketPerceptron
from verulam.linear._online.relaxation import Relaxation
from verulam.linear._online.voted import VotedPerceptron
from verulam.linear._online.winnow import BalancedWinnow
from verulam.linear._ranking.preferences import (
    Preferences,
    preferences_from_clicks,
    preferences_from_order,
    preferences_from_relevance,
)
from verulam.linear._ranking.ranking import (
    LinearRanker,
    kendall_tau,
    mean_average_precision,
    ndcg,
    rerank,
)
from verulam.linear._scorecard import Scorecard
from verulam.linear._trainer_comparison import LineComparison, compare_lines, line_trainers
from verulam.linear._training.criteria import LineCriterion, line_criterion
from verulam.linear._training.decision_evidence import TwoClassEvidence, two_class_evidence
from verulam.linear._training.geometry import (
    Hyperplane,
    augment,
    minimum_length_vector,
    sign_normalise,
    solution_region,
)
from verulam.linear._training.perceptrons import (
    BatchPerceptron,
    FarthestMarginPerceptron,
    Perceptron,
)
from verulam.linear._training.separability import (
    Separability,
    one_versus_rest_separability,
    pairwise_separability,
    separability,
)
from verulam.linear._training.two_class_problem import Trajectory

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
    "minimum_length_vector",
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
