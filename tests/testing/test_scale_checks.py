"""An additive learner whose sums depend on the cut is found out."""

from dataclasses import dataclass

import numpy as np
import pytest

from verulam.base import Density, OnePass, SumRecord
from verulam.parametric import NaiveBayes
from verulam.testing._scale_checks import check_dask, check_stream, check_two_halves

CHECKS = [check_stream, check_dask, check_two_halves]


@dataclass(frozen=True)
class Centre:
    mean: np.ndarray


@dataclass(frozen=True)
class MeanSums(SumRecord):
    count: int
    total: np.ndarray


class Means(OnePass, Density):
    def _statistics(self, chunk, parameters):
        return MeanSums(len(chunk), chunk.inputs.sum(axis=0))

    def _update(self, statistics):
        return Centre(statistics.total / statistics.count)


class MeansOfMeans(Means):
    """A mean of means weighs a short chunk like a long one, and counts chunks, not rows."""

    def _statistics(self, chunk, parameters):
        return MeanSums(1, chunk.inputs.mean(axis=0) ** 2)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("learner", [NaiveBayes(), Means()])
def test_sums_pass(check, learner):
    check(learner)


@pytest.mark.parametrize("check", CHECKS)
def test_what_is_no_sum_is_found(check):
    with pytest.raises(AssertionError, match="mean_"):
        check(MeansOfMeans())
