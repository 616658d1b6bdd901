"""Networks with feedback that predict numbers from sequences, and go on by themselves."""

from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from verulam.base import DataError, Regressor, checked_fit
from verulam.neural._time.recurrence import Steps
from verulam.neural._time.recurrent import RecurrentPerceptron
from verulam.neural._time.tasks import StepTargets, read_targets, step_numbers
from verulam.sequence import Sequences


class RecurrentRegressor(RecurrentPerceptron, Regressor):
    r"""Network with feedback that predicts numbers: of sequences, or at each of their steps.

    .. math::
        z_t = s(W x_t + U z_{t-1} + F y_{t-1}), \qquad y_t = V z_t + S y_{t-1}

    Parameters
    ----------
    hidden_layer_sizes
        Hidden units.
    feedback : str or list of str
        What is fed back: "hidden" units to themselves (:math:`U`, Elman's network),
        "output-hidden", outputs to hidden units (:math:`F`, Jordan's), "output", outputs to
        themselves (:math:`S`), or several of them; an empty list for none.
    activation
        Function of the hidden units: "tanh", "logistic", "relu" or "identity".
    gradient
        "unfolding" passes errors back through all steps; "real-time" carries derivatives forward,
        with memory that does not grow with the length of a sequence, and the same result.
    online
        Whether "real-time" learning takes a step of the weights at each step of a sequence.
    combine
        Whether the copies of a weight at the steps of a sequence are changed by the "sum" of their
        gradients, or by their "mean", which makes the error one of the mean step.
    truncate : int or None
        Steps through which errors are passed back at most: sequences are cut into such pieces, and
        states alone cross from one to the next.
    solver
        "adam" or "sgd" step after each batch; "lbfgs", "cg" and "newton-cg" use all sequences.
    learning_rate : float, Schedule, AdaptiveRate or "auto"
        Rate of a step; "auto" is 0.001 for Adam and 0.01 for descent.
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int, "auto" or "all"
        Sequences of a step; "auto" is 32.
    max_iter
        Most epochs.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs. Solvers that use
        all sequences at once compare `tol` with the gradient.
    shuffle
        Whether each epoch has a new random order.
    alpha
        Weight decay.
    early_stopping
        Whether to set sequences aside and keep the weights of the epoch that is best on them.
    validation_fraction
        Share of the sequences that is set aside then.
    init : "glorot", "small" or array
        Start of the weights.
    n_init
        Networks trained from different starts, of which the best is taken.
    random_state
        Seed of starts, orders and sequences set aside.

    Attributes
    ----------
    parameters_ : ndarray
        All weights and biases, flat; `coefs_`, `intercepts_` and `feedback_coefs_` are views.
    history_ : DataFrame
        A row for each epoch.
    restarts_ : DataFrame
        A row for each start.
    network_ : RecurrentNetwork
        Layers, feedback and functions.
    n_iter_ : int
        Epochs.
    loss_ : float
        Training error of the last epoch.
    n_features_in_ : int
        Columns of the sequences, or steps where rows of a table are sequences.

    Notes
    -----
    See Alpaydin 11.12. With targets at each step it is temporal association; with the steps that
    follow as targets (`next_steps`) it is reproduction, and `forecast` goes on from there; with one
    target for each sequence, the output at the last step is the answer. Sequences come as in
    `RecurrentClassifier`. Inputs and targets are taken as they are: divide those that are far from
    the unit scale by a constant first, because they train slowly or diverge.

    Examples
    --------
    An echo: the output repeats the input of two steps ago, which only feedback can remember.

    >>> import numpy as np
    >>> from verulam.neural import RecurrentRegressor
    >>> random = np.random.default_rng(0)
    >>> signals = [random.uniform(-1, 1, size=(12, 1)) for _ in range(20)]
    >>> echoes = [np.vstack([np.zeros((2, 1)), signal[:-2]]) for signal in signals]
    >>> net = RecurrentRegressor(6, solver="lbfgs", tol=1e-3, max_iter=300, random_state=0)
    >>> bool(net.fit(signals[:15], echoes[:15]).score(signals[15:], echoes[15:]) > 0.99)
    True
    """

    @classmethod
    def _example_learners(cls) -> list["RecurrentRegressor"]:
        return [cls(16, learning_rate=0.01, batch_size="all", max_iter=500, tol=1e-3)]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        sequences = np.empty(16, dtype=object)
        for place in range(16):
            sequences[place] = random.normal(size=(int(random.integers(3, 8)), 1))
        return sequences, np.array([float(steps.sum()) for steps in sequences])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _outputs(self) -> tuple[str, int]:
        return "identity", self._n_targets

    def _coded(self, targets: StepTargets, sequences: Sequences) -> StepTargets:
        numbers = step_numbers(targets).values
        self._single = numbers.ndim == 1
        numbers = numbers.reshape(len(numbers), -1)
        self._n_targets = numbers.shape[1]
        return targets.taken(numbers.astype(sequences.values.dtype))

    @checked_fit
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None, mask: Any = None
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            A list of sequences of numbers, or one array with lengths.
        y
            One number or row of numbers for each sequence, or a list with those of each sequence's
            steps.
        sample_weight
            Weights of the sequences.
        lengths
            Steps of each sequence, where X is one array.
        mask
            In the form of targets by step, which of them count; others may be missing.
        """
        self._fit_sequences(X, y, sample_weight, lengths, mask)
        return self

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the numbers for each sequence, or for each of its steps.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        """
        sequences, states = self._run(X, lengths)
        outputs = states.outputs[:, 0] if self._single else states.outputs
        return self._given_back(sequences, outputs)

    def forecast(self, X: Any, n_steps: int, lengths: Any = None) -> list[NDArray[np.floating]]:
        """Go on with sequences: each output is the input of the next step.

        Parameters
        ----------
        X
            The sequences so far.
        n_steps
            Steps to add.
        lengths
            Steps of each sequence, where X is one array.

        Returns
        -------
        list of ndarray of shape (n_steps, n_outputs)
            What follows in each of them.

        Examples
        --------
        >>> import numpy as np
        >>> from verulam.neural import RecurrentRegressor, next_steps
        >>> wave = np.sin(np.arange(60) / 3)
        >>> net = RecurrentRegressor(8, solver="lbfgs", tol=1e-3, max_iter=500, random_state=0)
        >>> ahead = net.fit(*next_steps([wave[:40]])).forecast([wave[:40]], 5)[0][:, 0]
        >>> bool(np.abs(ahead - wave[40:45]).max() < 0.1)
        True
        """
        if not isinstance(n_steps, int | np.integer) or isinstance(n_steps, bool) or n_steps < 1:
            raise DataError(f"n_steps must be a whole number of at least 1; got {n_steps!r}.")
        sequences, _ = self._run(X, lengths)
        if not self._by_step or self._n_targets != sequences.values.shape[1]:
            raise DataError(
                "forecast feeds outputs back as inputs: fit to the steps that follow, as "
                "next_steps pairs them."
            )
        pieces = [sequences.values[begin:end] for begin, end in pairwise(sequences.starts)]
        return [self._continued(piece, int(n_steps)) for piece in pieces]

    def _continued(self, values: NDArray[np.floating], n_steps: int) -> NDArray[np.floating]:
        theta, network = self.parameters_, self.network_
        added = np.empty((n_steps, self._n_targets), dtype=theta.dtype)
        known, single = (Steps.of(np.array([0]), np.array([n])) for n in (len(values), 1))
        states = network.run(theta, values.astype(theta.dtype), known)
        for number in range(n_steps):
            added[number] = states.outputs[-1]
            past_state = (states.hidden[-1:], states.outputs[-1:])
            states = network.run(theta, added[[number]], single, past_state)
        return added

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None, mask: Any = None
    ) -> float:
        """Return the share of the variance that is explained, over targets that count.

        Parameters
        ----------
        X, y, sample_weight, lengths, mask
            As in `fit`.
        """
        sequences, states = self._run(X, lengths)
        targets = step_numbers(read_targets(y, sequences, mask))
        counts = np.flatnonzero(targets.mask)
        weights = None
        if sample_weight is not None:
            shares = np.asarray(sample_weight, dtype=np.float64)
            weights = np.repeat(shares, sequences.lengths)[counts]
        answers = states.outputs.reshape(len(states.outputs), -1)
        truth = targets.values.reshape(len(answers), -1)
        return float(r2_score(truth[counts], answers[counts], sample_weight=weights))
