"""Parametric methods: a form is assumed, its parameters are estimated."""

from verulam.parametric._covariances import FAMILIES, parameter_count
from verulam.parametric._explanation import Explanation
from verulam.parametric._gaussian_classifier import (
    GaussianClassifier,
    LinearDiscriminants,
    QuadraticDiscriminants,
)
from verulam.parametric._naive_bayes import NaiveBayes

__all__ = [
    "FAMILIES",
    "Explanation",
    "GaussianClassifier",
    "LinearDiscriminants",
    "NaiveBayes",
    "QuadraticDiscriminants",
    "parameter_count",
]
