"""Ensembles: learners made of other learners, and what makes them better than the best of them."""

from verulam.base import publish as _publish
from verulam.ensemble._boosting.adaboost import AdaBoostClassifier
from verulam.ensemble._boosting.margins import MarginTrace, boosting_weights, margin_trace
from verulam.ensemble._boosting.regression import AdaBoostRegressor, ResidualBoostingRegressor
from verulam.ensemble._boosting.stumps import DecisionStump, Stump
from verulam.ensemble._boosting.three import ThreeLearnerBoosting, three_learner_error
from verulam.ensemble._codes.classifiers import (
    IncrementalCodeClassifier,
    OutputCodeClassifier,
    decode,
)
from verulam.ensemble._codes.matrices import CodeReport, code_report, optimise_code, output_code
from verulam.ensemble._forest.forest import Forest
from verulam.ensemble._forest.importance import ColumnImportance
from verulam.ensemble._forest.learners import RandomForestClassifier, RandomForestRegressor
from verulam.ensemble._fusion.analysis import (
    CommitteeErrors,
    VarianceAnalysis,
    committee_errors,
    covariance_weights,
    effective_members,
    model_posterior,
    sample_models,
    variance_analysis,
)
from verulam.ensemble._fusion.diversity import Diversity, diversity
from verulam.ensemble._fusion.rules import (
    ScoreScale,
    combine,
    majority_probability,
    normalise_scores,
    score_scale,
    weighted_median,
)
from verulam.ensemble._local.cascade import CascadeClassifier, CascadeRegressor, Coverage
from verulam.ensemble._local.dynamic import DynamicSelectionClassifier, DynamicSelectionRegressor
from verulam.ensemble._local.gated import GatedClassifier, GatedRegressor
from verulam.ensemble._members.members import MemberOutputs, out_of_fold_outputs
from verulam.ensemble._resampling.bagging import BaggingClassifier, BaggingRegressor
from verulam.ensemble._resampling.pool import build_pool
from verulam.ensemble._resampling.stability import Stability, stability
from verulam.ensemble._stacking.metalearners import (
    Correspondence,
    CorrespondenceClassifier,
    EigenLearners,
    correspondence_analysis,
)
from verulam.ensemble._stacking.selection import (
    CorrelationPruning,
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
    MemberSelection,
    prune_correlated,
    select_members,
)
from verulam.ensemble._stacking.stacking import (
    StackingClassifier,
    StackingRegressor,
    simplex_weights,
)
from verulam.ensemble._views.consensus import ClusterEnsemble, co_association
from verulam.ensemble._views.views import MultiViewClassifier, SharedFactors
from verulam.ensemble._voting.best_single import BestSingleClassifier, BestSingleRegressor
from verulam.ensemble._voting.voting import VotingClassifier, VotingRegressor, estimated_weights

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BestSingleClassifier",
    "BestSingleRegressor",
    "CascadeClassifier",
    "CascadeRegressor",
    "ClusterEnsemble",
    "CodeReport",
    "ColumnImportance",
    "CommitteeErrors",
    "CorrelationPruning",
    "Correspondence",
    "CorrespondenceClassifier",
    "Coverage",
    "DecisionStump",
    "Diversity",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EigenLearners",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "Forest",
    "GatedClassifier",
    "GatedRegressor",
    "IncrementalCodeClassifier",
    "MarginTrace",
    "MemberOutputs",
    "MemberSelection",
    "MultiViewClassifier",
    "OutputCodeClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ResidualBoostingRegressor",
    "ScoreScale",
    "SharedFactors",
    "Stability",
    "StackingClassifier",
    "StackingRegressor",
    "Stump",
    "ThreeLearnerBoosting",
    "VarianceAnalysis",
    "VotingClassifier",
    "VotingRegressor",
    "boosting_weights",
    "build_pool",
    "co_association",
    "code_report",
    "combine",
    "committee_errors",
    "correspondence_analysis",
    "covariance_weights",
    "decode",
    "diversity",
    "effective_members",
    "estimated_weights",
    "majority_probability",
    "margin_trace",
    "model_posterior",
    "normalise_scores",
    "optimise_code",
    "out_of_fold_outputs",
    "output_code",
    "prune_correlated",
    "sample_models",
    "score_scale",
    "select_members",
    "simplex_weights",
    "stability",
    "three_learner_error",
    "variance_analysis",
    "weighted_median",
]

_publish(__name__)
