"""Public functions refuse arguments of another kind in one sentence."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.ensemble import (
    MemberOutputs,
    boosting_weights,
    build_pool,
    co_association,
    code_report,
    combine,
    committee_errors,
    correspondence_analysis,
    covariance_weights,
    decode,
    diversity,
    effective_members,
    estimated_weights,
    majority_probability,
    margin_trace,
    model_posterior,
    normalise_scores,
    optimise_code,
    out_of_fold_outputs,
    output_code,
    prune_correlated,
    sample_models,
    score_scale,
    select_members,
    simplex_weights,
    stability,
    three_learner_error,
    variance_analysis,
    weighted_median,
)

SAID = MemberOutputs(np.zeros((2, 3, 1)), ("a", "b"))


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (boosting_weights, (3, [[1.0]], [1]), "model must be an `AdaBoostClassifier`; got 3"),
        (build_pool, (3,), "estimators must be a list, or another collection, or a dictionary"),
        (co_association, (3,), "solutions must have the shape"),
        (code_report, ("a",), "codes must be a table of finite numbers; got 'a'"),
        (combine, ("a",), "outputs must be `MemberOutputs`, or finite numbers"),
        (combine, ([[np.nan]],), "outputs must be `MemberOutputs`, or finite numbers"),
        (committee_errors, ("a", [1]), "outputs must be `MemberOutputs`, or finite numbers"),
        (correspondence_analysis, ("a",), "table must be a table of finite numbers"),
        (covariance_weights, ("a",), "products must be finite numbers"),
        (decode, ("a", [[1.0]]), "outputs must be a table of finite numbers"),
        (decode, ([[1.0]], [[1.0]], "near"), "decoding='near': take one of sum, loss"),
        (diversity, ("a", [1]), "labels must be `MemberOutputs`, or labels of members by rows"),
        (effective_members, ("a",), "correlations must be finite numbers"),
        (estimated_weights, (SAID, [1, 2, 3], "votes"), "method='votes': take one of accuracy"),
        (estimated_weights, (3, [1], "accuracy"), "outputs must be `MemberOutputs`; got 3"),
        (majority_probability, ("a", 3), "p must be finite numbers; got 'a'"),
        (margin_trace, (3, [[1.0]], [1]), "model must be an `AdaBoostClassifier`; got 3"),
        (model_posterior, ("a",), "log_likelihoods must be a vector of finite numbers"),
        (normalise_scores, ("a",), "scores must be finite numbers; got 'a'"),
        (optimise_code, ("a", 3), "n_classes must be a whole number; got 'a'"),
        (out_of_fold_outputs, (3, [[1.0]], [1]), "estimators must be a list"),
        (output_code, ("a",), "n_classes must be a whole number; got 'a'"),
        (prune_correlated, (3, [1]), "must have the shape"),
        (sample_models, ("a", 3), "posterior must be a vector of finite numbers"),
        (score_scale, ("a",), "scores must be finite numbers; got 'a'"),
        (select_members, (3, [1]), "outputs must be `MemberOutputs`; got 3"),
        (simplex_weights, ("a", [1]), "outputs must be `MemberOutputs`, or finite numbers"),
        (stability, (3, [[1.0]], [1]), "estimator must be a learner with fit and predict; got 3"),
        (three_learner_error, ("a",), "p must be finite numbers; got 'a'"),
        (variance_analysis, ([], []), "one member and one row or more"),
        (weighted_median, ("a", [1]), "values must be finite numbers; got 'a'"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_wrong_kinds_are_refused(function, arguments, message):
    with pytest.raises(DataError, match=message):
        function(*arguments)
