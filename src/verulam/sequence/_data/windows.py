"""Windows: each step together with the steps around it."""

from typing import Any

import numpy as np

from verulam.sequence._data.sequences import Sequences, check_count, input_rows, read_sequences


def input_windows(X: Any, before: int = 1, after: int = 0, *, lengths: Any = None) -> Any:
    r"""Return at each step the values around it, side by side, as inputs of a model.

    Parameters
    ----------
    X
        A list of sequences, or one array: what is known at each step.
    before
        Steps that come before.
    after
        Steps that come after.
    lengths
        Steps of each sequence, where X is one array.

    Notes
    -----
    The input :math:`x_t` of an input-output model may be any vector that is known at :math:`t`,
    such as a window of a signal, :math:`(s_{t-\tau}, \ldots, s_t)` (Alpaydin 15.9). Windows stay
    within their sequence: beyond its ends, the first and last steps are repeated.

    Examples
    --------
    An echo that comes one step later is a line over windows:

    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, RegressionEmission, input_windows
    >>> signal = np.random.default_rng(0).normal(size=50)
    >>> echo = 3.0 * np.concatenate([signal[:1], signal[:-1]]) + signal
    >>> model = HiddenMarkovModel(1, RegressionEmission(variance_floor=1e-3))
    >>> model.fit(echo, inputs=input_windows(signal)).emission_.weights[0, 1:, 0].round(6)
    array([3., 1.])
    """
    check_count(before, "before", 0)
    check_count(after, "after", 0)
    sequences = read_sequences(X, lengths)
    known = sequences.with_values(input_rows(sequences.values, "X"))
    return sequences.give_back(windows(known, before, after))


def windows(sequences: Sequences, before: int, after: int) -> np.ndarray:
    """Return at each step the observations from `before` steps ago to `after` steps ahead.

    Parameters
    ----------
    sequences
        The sequences; beyond their ends, the first and last steps are repeated.
    before, after
        Steps to each side.
    """
    steps = np.arange(sequences.n_steps)
    first = np.repeat(sequences.starts[:-1], sequences.lengths)
    last = np.repeat(sequences.starts[1:] - 1, sequences.lengths)
    return np.hstack(
        [
            sequences.values[np.clip(steps + offset, first, last)]
            for offset in range(-before, after + 1)
        ]
    )
