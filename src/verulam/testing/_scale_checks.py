"""Checks of additive learners: memory, stream and cluster give the same numbers."""

from typing import Any

import numpy as np

from verulam.base import clone
from verulam.testing._agreement import assert_same_attributes, assert_same_outputs
from verulam.testing._samples import Sample, fitted, sample_for

N_CHUNKS = 4


def check_stream(learner: Any) -> None:
    """Check that a stream of chunks gives the same learner as memory."""
    sample = sample_for(learner)
    pieces = [
        sample.rows(piece) for piece in np.array_split(np.arange(len(sample.inputs)), N_CHUNKS)
    ]
    chunks = [piece.inputs if piece.targets is None else piece.arguments for piece in pieces]
    streamed = fitted(clone(learner), Sample(lambda: iter(chunks)))
    _assert_same(learner, streamed, sample)


def check_dask(learner: Any) -> None:
    """Check that Dask arrays give the same learner as memory."""
    import dask
    import dask.array

    sample = sample_for(learner)
    rows = -(-len(sample.inputs) // N_CHUNKS)
    lazy = [
        dask.array.from_array(part, chunks=(rows, *part.shape[1:])) for part in sample.arguments
    ]
    with dask.config.set(scheduler="threads"):
        summed = fitted(clone(learner), Sample(*lazy))
    _assert_same(learner, summed, sample)


def check_two_halves(learner: Any) -> None:
    """Check that `partial_fit` on two halves gives the same learner as `fit` on both."""
    sample = sample_for(learner)
    half = len(sample.inputs) // 2
    taught = clone(learner)
    for part in (slice(half), slice(half, None)):
        taught.partial_fit(*sample.rows(part).arguments)
    _assert_same(learner, taught, sample)


def _assert_same(learner: Any, other: Any, sample: Sample) -> None:
    ready = fitted(clone(learner), sample)
    assert_same_attributes(ready, other)
    assert_same_outputs(ready, other, sample.inputs)
