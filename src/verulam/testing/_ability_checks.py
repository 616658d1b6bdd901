"""Checks of what a learner says it can do: weights, categories, missing values."""

from typing import Any

import numpy as np
import pandas as pd

from verulam.base import abilities, clone
from verulam.testing._agreement import assert_same_outputs
from verulam.testing._samples import Sample, fitted, sample_for


def check_weights_repeat_rows(learner: Any) -> None:
    """Check that a whole-number weight is the same as repeating the row."""
    sample = sample_for(learner)
    weights = np.random.default_rng(1).integers(0, 4, size=len(sample.inputs))
    weighted = fitted(clone(learner), sample, sample_weight=weights.astype(np.float64))
    repeated = fitted(clone(learner), sample.rows(np.repeat(np.arange(len(weights)), weights)))
    # Iterative solvers stop within their own tolerance of one another.
    tolerance = 1e-8 if abilities(learner).additive else 1e-3
    assert_same_outputs(weighted, repeated, sample.inputs, tolerance=tolerance)


def check_missing_values(learner: Any) -> None:
    """Check that missing numbers are accepted by `fit` and by what follows it."""
    _answers(learner, _with_gaps(sample_for(learner)))


def check_categories(learner: Any) -> None:
    """Check that columns of dtype ``category`` are accepted, with gaps where missing values are."""
    sample = sample_for(learner)
    frame = pd.DataFrame(np.asarray(sample.inputs), columns=["first", "second", "third"])
    frame["third"] = pd.cut(frame["third"], 3, labels=["low", "middle", "high"])
    _answers(learner, Sample(frame, sample.targets))
    if abilities(learner).missing:
        _answers(learner, _with_gaps(Sample(frame, sample.targets)))


def _with_gaps(sample: Sample) -> Sample:
    if getattr(sample.inputs, "dtype", None) == np.dtype(object):  # sequences, each with gaps
        gapped = sample.inputs.copy()
        for place, sequence in enumerate(sample.inputs):
            gapped[place] = np.where(
                np.indices(sequence.shape).sum(axis=0) % 7 == 0, np.nan, sequence
            )
        return Sample(gapped, sample.targets)
    frame = pd.DataFrame(sample.inputs).copy()
    for place, name in enumerate(frame.columns):
        frame.loc[frame.index[place::7], name] = None
    as_given = frame if isinstance(sample.inputs, pd.DataFrame) else frame.to_numpy()
    return Sample(as_given, sample.targets)


def _answers(learner: Any, sample: Sample) -> None:
    """Raise unless the learner gives one usable answer per row."""
    ready = fitted(clone(learner), sample)
    for method in ("predict", "predict_proba", "score_samples", "transform"):
        if hasattr(ready, method):
            answers = np.asarray(getattr(ready, method)(sample.inputs))
            assert len(answers) == len(sample.inputs), f"{method}: wrong number of rows"
            assert not pd.isna(answers).any(), f"{method}: missing answers"
