"""Checkpoints: the same sums in blocks, little memory, clear refusals."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    LogisticTransitions,
    TransitionMatrix,
)
from verulam.sequence._model.checkpoint import checkpointed_sums
from verulam.sequence._model.expectation import expected_sums

MODEL = HiddenMarkovModel.from_parameters(
    [0.6, 0.4],
    [[0.7, 0.3], [0.2, 0.8]],
    CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
)
X = [
    np.random.default_rng(seed).integers(2, size=length) for seed, length in enumerate((23, 1, 40))
]


@pytest.mark.parametrize("block", [1, 5, 8, 100])
def test_blocks_of_any_size_give_the_same_sums(block):
    sequences = MODEL._read(X, None)
    whole = expected_sums(MODEL.model_, sequences)
    parts = checkpointed_sums(MODEL.model_, sequences, block)
    assert_allclose(parts.log_likelihood, whole.log_likelihood)
    assert_allclose(parts.firsts, whole.firsts)
    assert_allclose(parts.transitions.sums, whole.transitions.sums)
    assert_allclose(parts.emission.counts, whole.emission.counts)


def test_refusals():
    with pytest.raises(DataError, match="same at every step"):
        HiddenMarkovModel(2, transitions=LogisticTransitions(), checkpoint=3).fit(
            [1.0, 2.0], inputs=[1.0, 2.0]
        )
    impossible = HiddenMarkovModel(
        2,
        CategoricalEmission(probabilities=[[1, 0], [0, 1]]),
        transitions=TransitionMatrix("left-to-right"),
        checkpoint=2,
    )
    with pytest.raises(DataError, match="at step 2"):
        impossible.fit([0, 1, 0])


MILLION = """
import numpy as np
import warnings
from verulam.sequence import CategoricalEmission, HiddenMarkovModel
warnings.simplefilter("ignore")
X = np.random.default_rng(0).integers(4, size=10**6)
options = dict(max_iter=2, checkpoint={block}, random_state=0)
HiddenMarkovModel({states}, CategoricalEmission(), **options).fit(X)
with open("/proc/self/status") as status:
    print(next(line for line in status if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    ("states", "block"), [(8, None), pytest.param(64, 4096, marks=pytest.mark.slow)]
)
def test_a_million_steps_stay_below_a_gigabyte(states, block):
    code = textwrap.dedent(MILLION.format(states=states, block=block))
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert int(result.stdout) * 1024 < 1e9
