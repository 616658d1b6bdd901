"""Parametric methods: a form is assumed, its parameters are estimated."""

from verulam.base import publish as _publish
from verulam.parametric._class_parameters import COVARIANCE_TYPES, parameter_count
from verulam.parametric._densities import BernoulliDensity, GaussianDensity, MultinomialDensity
from verulam.parametric._explanation import Explanation
from verulam.parametric._gaussian_classifier import (
    GaussianClassifier,
    LinearDiscriminants,
    QuadraticDiscriminants,
)
from verulam.parametric._incomplete_gaussian import IncompleteGaussianDensity
from verulam.parametric._least_squares import LeastSquares, PolynomialRegression
from verulam.parametric._likelihood import MaximumLikelihood, maximise_likelihood
from verulam.parametric._model_loss_optimiser import MinimumLoss, minimise_loss
from verulam.parametric._naive_bayes import NaiveBayes
from verulam.parametric._nearest_mean import NearestMean
from verulam.parametric._sample_moments import SampleMoments
from verulam.parametric._selection import ComplexityCurve, select_complexity

__all__ = [
    "COVARIANCE_TYPES",
    "BernoulliDensity",
    "ComplexityCurve",
    "Explanation",
    "GaussianClassifier",
    "GaussianDensity",
    "IncompleteGaussianDensity",
    "LeastSquares",
    "LinearDiscriminants",
    "MaximumLikelihood",
    "MinimumLoss",
    "MultinomialDensity",
    "NaiveBayes",
    "NearestMean",
    "PolynomialRegression",
    "QuadraticDiscriminants",
    "SampleMoments",
    "maximise_likelihood",
    "minimise_loss",
    "parameter_count",
    "select_complexity",
]

_publish(__name__)
