"""Intervals and tests that turn the results of experiments into sentences (chapter 19)."""

from verulam.base import publish as _publish
from verulam.statistics._core.intervals import (
    BootstrapResult,
    bootstrap_interval,
    rate_interval,
    t_interval,
    z_interval,
)
from verulam.statistics._core.multiple_comparisons import Comparisons, adjust_p_values
from verulam.statistics._core.result import Assumption, ConfidenceInterval, EffectSize, TestResult
from verulam.statistics._datasets.bayesian import (
    BayesianComparison,
    bayesian_correlated_t,
    bayesian_signed_rank,
)
from verulam.statistics._datasets.compare_many import POST_HOC, ManyComparison, compare_many
from verulam.statistics._datasets.logical_relations import adjust_pairs
from verulam.statistics._datasets.mean_ranks import (
    average_ranks,
    cliques,
    control_test,
    mean_rank_test,
    nemenyi_test,
    tukey_on_ranks,
    wilcoxon_holm,
)
from verulam.statistics._datasets.rank_tests import (
    friedman_test,
    iman_davenport_test,
    kruskal_wallis,
    sign_test,
)
from verulam.statistics._datasets.wilcoxon import wilcoxon_test
from verulam.statistics._guidance.choose_test import Choice, choose_test, decision_table
from verulam.statistics._guidance.simulate import Simulation, simulate, simulated_tests, size_table
from verulam.statistics._one.bootstrap_error import (
    BootstrapError,
    ResampledLosses,
    bootstrap_error,
    no_information_error,
    resampled_losses,
)
from verulam.statistics._one.error_estimates import ErrorEstimates, error_estimates
from verulam.statistics._one.one_sample import (
    binomial_test,
    normal_approximation_test,
    runs_t_test,
    t_test,
    z_test,
)
from verulam.statistics._one.power import (
    PowerCurve,
    power_curve,
    rows_to_tell,
    sample_size,
    t_power,
    z_power,
)
from verulam.statistics._one.sampling_demos import (
    EstimatorStudy,
    SamplingDistribution,
    bootstrap_left_out,
    chi_square_draws,
    estimator_study,
    f_draws,
    running_means,
    sampling_distribution,
    standardised_sums,
    t_draws,
)
from verulam.statistics._several.after_anova import (
    contrast,
    fisher_lsd,
    newman_keuls,
    scheffe,
    tukey_hsd,
)
from verulam.statistics._several.anova import (
    TwoFactorAnova,
    one_way_anova,
    repeated_anova,
    two_factor_anova,
)
from verulam.statistics._several.choice_rules import SELECTION_RULES, Selection, select
from verulam.statistics._several.joint_posterior import (
    UNKNOWN_SPLITS,
    JointPosterior,
    joint_posterior,
    split_posterior,
)
from verulam.statistics._several.manova import ManovaResult, manova, pairwise_hotelling
from verulam.statistics._several.multitest import LearnerOrder, multitest_order
from verulam.statistics._theory.finite_spaces import FiniteSpace
from verulam.statistics._theory.random_variables import DiscreteVariable, JointTable
from verulam.statistics._theory.special_variables import (
    BinomialVariable,
    MultinomialVariable,
    NormalVariable,
    UniformVariable,
)
from verulam.statistics._two.auc import RocBand, auc_interval, delong_test, roc_band
from verulam.statistics._two.calibrated_t import calibrated_degrees, calibrated_t_test
from verulam.statistics._two.five_by_two import five_by_two_f_test, five_by_two_t_test
from verulam.statistics._two.hotelling import hotelling_test
from verulam.statistics._two.mcnemar import ErrorOverlap, error_overlap, mcnemar
from verulam.statistics._two.paired_tests import (
    corrected_t_test,
    cv_t_test,
    permutation_test,
    variance_ratio_test,
)

__all__ = [
    "POST_HOC",
    "SELECTION_RULES",
    "UNKNOWN_SPLITS",
    "Assumption",
    "BayesianComparison",
    "BinomialVariable",
    "BootstrapError",
    "BootstrapResult",
    "Choice",
    "Comparisons",
    "ConfidenceInterval",
    "DiscreteVariable",
    "EffectSize",
    "ErrorEstimates",
    "ErrorOverlap",
    "EstimatorStudy",
    "FiniteSpace",
    "JointPosterior",
    "JointTable",
    "LearnerOrder",
    "ManovaResult",
    "ManyComparison",
    "MultinomialVariable",
    "NormalVariable",
    "PowerCurve",
    "ResampledLosses",
    "RocBand",
    "SamplingDistribution",
    "Selection",
    "Simulation",
    "TestResult",
    "TwoFactorAnova",
    "UniformVariable",
    "adjust_p_values",
    "adjust_pairs",
    "auc_interval",
    "average_ranks",
    "bayesian_correlated_t",
    "bayesian_signed_rank",
    "binomial_test",
    "bootstrap_error",
    "bootstrap_interval",
    "bootstrap_left_out",
    "calibrated_degrees",
    "calibrated_t_test",
    "chi_square_draws",
    "choose_test",
    "cliques",
    "compare_many",
    "contrast",
    "control_test",
    "corrected_t_test",
    "cv_t_test",
    "decision_table",
    "delong_test",
    "error_estimates",
    "error_overlap",
    "estimator_study",
    "f_draws",
    "fisher_lsd",
    "five_by_two_f_test",
    "five_by_two_t_test",
    "friedman_test",
    "hotelling_test",
    "iman_davenport_test",
    "joint_posterior",
    "kruskal_wallis",
    "manova",
    "mcnemar",
    "mean_rank_test",
    "multitest_order",
    "nemenyi_test",
    "newman_keuls",
    "no_information_error",
    "normal_approximation_test",
    "one_way_anova",
    "pairwise_hotelling",
    "permutation_test",
    "power_curve",
    "rate_interval",
    "repeated_anova",
    "resampled_losses",
    "roc_band",
    "rows_to_tell",
    "running_means",
    "runs_t_test",
    "sample_size",
    "sampling_distribution",
    "scheffe",
    "select",
    "sign_test",
    "simulate",
    "simulated_tests",
    "size_table",
    "split_posterior",
    "standardised_sums",
    "t_draws",
    "t_interval",
    "t_power",
    "t_test",
    "tukey_hsd",
    "tukey_on_ranks",
    "two_factor_anova",
    "variance_ratio_test",
    "wilcoxon_holm",
    "wilcoxon_test",
    "z_interval",
    "z_power",
    "z_test",
]

_publish(__name__)
