"""Bayesian estimation: priors, posteriors, evidence, processes and chains of draws."""

from verulam.base import publish as _publish
from verulam.bayes._classification.gaussian import BayesianGaussianClassifier
from verulam.bayes._classification.laplace import LaplaceApproximation, laplace
from verulam.bayes._classification.logistic import BayesianLogisticRegression, averaged_probability
from verulam.bayes._evidence.averaging import BayesianModelAverage
from verulam.bayes._evidence.evidence import (
    BayesFactor,
    aic,
    bayes_factor,
    bic,
    compare_models,
    effective_degrees,
    generalised_degrees,
    model_posterior,
    monte_carlo_evidence,
)
from verulam.bayes._families.conjugate import average_density
from verulam.bayes._families.discrete import BetaBernoulli, DirichletMultinomial
from verulam.bayes._families.distributions import (
    Bernoulli,
    Beta,
    Gamma,
    InverseChiSquare,
    InverseGamma,
    LaplaceDistribution,
    Normal,
    StudentT,
)
from verulam.bayes._families.gaussian import (
    GaussianMean,
    GaussianParameters,
    GaussianPrecision,
    NormalGamma,
)
from verulam.bayes._families.grid import GridPosterior, grid_posterior, prior
from verulam.bayes._families.multivariate import (
    Categorical,
    Dirichlet,
    InverseWishart,
    MultivariateNormal,
    MultivariateT,
    Wishart,
)
from verulam.bayes._families.wishart import GaussianMeanVector, NormalWishart
from verulam.bayes._features.buffet import (
    Buffet,
    beta_process,
    buffet_log_probability,
    expected_dishes,
    indian_buffet,
)
from verulam.bayes._features.factors import BinaryFactors, InfiniteFactors
from verulam.bayes._mixtures.bayesian_mixture import BayesianGaussianMixture
from verulam.bayes._mixtures.dirichlet_process import DirichletProcessMixture
from verulam.bayes._mixtures.experts import BayesianMixtureOfExperts
from verulam.bayes._mixtures.leader import LeaderClustering
from verulam.bayes._mixtures.mean_field import MeanFieldRun, VariationalRegression, mean_field
from verulam.bayes._mixtures.restaurant import (
    Seating,
    chinese_restaurant,
    expected_tables,
    likely_concentration,
    partition_log_probability,
    seating_probabilities,
)
from verulam.bayes._processes.classification import GaussianProcessClassifier
from verulam.bayes._processes.regression import GaussianProcessRegressor, LeaveOneOut, sample_prior
from verulam.bayes._processes.rows import (
    PrunedProcess,
    Query,
    next_query,
    prune_process,
    spread_rows,
)
from verulam.bayes._regression.curves import CurveFit, fit_curve
from verulam.bayes._regression.linear import BayesianLinearRegression
from verulam.bayes._regression.normal_gamma import NormalGammaRegression
from verulam.bayes._regression.predictions import Intervals, Predictions
from verulam.bayes._regression.sparse import SparseRegression
from verulam.bayes._sampling.chains import Chains
from verulam.bayes._sampling.samplers import gibbs, metropolis
from verulam.bayes._topics.allocation import LatentDirichletAllocation
from verulam.bayes._topics.corpus import Corpus, draw_documents
from verulam.bayes._topics.hierarchical import HierarchicalTopics

__all__ = [
    "BayesFactor",
    "BayesianGaussianClassifier",
    "BayesianGaussianMixture",
    "BayesianLinearRegression",
    "BayesianLogisticRegression",
    "BayesianMixtureOfExperts",
    "BayesianModelAverage",
    "Bernoulli",
    "Beta",
    "BetaBernoulli",
    "BinaryFactors",
    "Buffet",
    "Categorical",
    "Chains",
    "Corpus",
    "CurveFit",
    "Dirichlet",
    "DirichletMultinomial",
    "DirichletProcessMixture",
    "Gamma",
    "GaussianMean",
    "GaussianMeanVector",
    "GaussianParameters",
    "GaussianPrecision",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "GridPosterior",
    "HierarchicalTopics",
    "InfiniteFactors",
    "Intervals",
    "InverseChiSquare",
    "InverseGamma",
    "InverseWishart",
    "LaplaceApproximation",
    "LaplaceDistribution",
    "LatentDirichletAllocation",
    "LeaderClustering",
    "LeaveOneOut",
    "MeanFieldRun",
    "MultivariateNormal",
    "MultivariateT",
    "Normal",
    "NormalGamma",
    "NormalGammaRegression",
    "NormalWishart",
    "Predictions",
    "PrunedProcess",
    "Query",
    "Seating",
    "SparseRegression",
    "StudentT",
    "VariationalRegression",
    "Wishart",
    "aic",
    "average_density",
    "averaged_probability",
    "bayes_factor",
    "beta_process",
    "bic",
    "buffet_log_probability",
    "chinese_restaurant",
    "compare_models",
    "draw_documents",
    "effective_degrees",
    "expected_dishes",
    "expected_tables",
    "fit_curve",
    "generalised_degrees",
    "gibbs",
    "grid_posterior",
    "indian_buffet",
    "laplace",
    "likely_concentration",
    "mean_field",
    "metropolis",
    "model_posterior",
    "monte_carlo_evidence",
    "next_query",
    "partition_log_probability",
    "prior",
    "prune_process",
    "sample_prior",
    "seating_probabilities",
    "spread_rows",
]

_publish(__name__)
