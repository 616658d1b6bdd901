"""Networks with feedback that tell sequences apart, or label their steps."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from verulam.base import Classifier, checked_fit, column_or_1d, encode_classes
from verulam.neural._time.recurrent import RecurrentPerceptron
from verulam.neural._time.tasks import StepTargets, read_series, read_targets
from verulam.sequence import Sequences


class RecurrentClassifier(RecurrentPerceptron, Classifier):
    r"""Network with feedback that classifies sequences, or each of their steps.

    Hidden units see the input of a step and what was fed back from the step before,

    .. math::
        z_t = s(W x_t + U z_{t-1} + F y_{t-1}), \qquad y_t = g(V z_t + S y_{t-1}),

    so that the network remembers what happened in the past. Where a sequence has one label, the
    outputs at its last step are its answer.

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
    classes_ : ndarray
        Labels, sorted.
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
    See Alpaydin 11.12, figs. 11.21 and 11.22. Sequences may have any lengths: a list of arrays, or
    one array with `lengths`; a two-dimensional array alone is one sequence of single numbers per
    row. The error of a sequence is the sum over its steps that have targets.

    Examples
    --------
    Which of two spikes came first is over when the sequence ends, and must be remembered:

    >>> import numpy as np
    >>> from verulam.neural import RecurrentClassifier
    >>> random = np.random.default_rng(0)
    >>> sequences, labels = [], []
    >>> for number in range(120):
    ...     steps = np.zeros((int(random.integers(4, 9)), 2))
    ...     first, second = sorted(random.choice(len(steps) - 1, 2, replace=False))
    ...     label = number % 2
    ...     steps[first, label] = steps[second, 1 - label] = 1.0
    ...     sequences.append(steps)
    ...     labels.append("left" if label == 0 else "right")
    >>> net = RecurrentClassifier(8, solver="lbfgs", tol=1e-3, random_state=0)
    >>> net.fit(sequences[:100], labels[:100]).score(sequences[100:], labels[100:])
    1.0
    """

    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_classifiers_train": "a list of lists is a list of sequences, of any length",
    }

    @classmethod
    def _example_learners(cls) -> list["RecurrentClassifier"]:
        return [cls(16, learning_rate=0.01, batch_size="all", max_iter=500, tol=1e-3)]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        labels = np.array(["rise", "fall"] * 8)
        sequences = np.empty(16, dtype=object)
        for place, label in enumerate(labels):
            steps = np.repeat([0.0, 2.0] if label == "rise" else [2.0, 0.0], 6)
            sequences[place] = steps[:, None] + random.normal(0.0, 0.5, size=(12, 1))
        return sequences, labels

    def _outputs(self) -> tuple[str, int]:
        n_classes = len(self.classes_)
        return ("binary", 1) if n_classes == 2 else ("softmax", n_classes)

    def _strata(self, targets: NDArray[Any]) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(targets == code) for code in np.unique(targets)]

    def _coded(self, targets: StepTargets, sequences: Sequences) -> StepTargets:
        labels = targets.values
        used = labels if targets.by_step else labels[sequences.starts[1:] - 1]
        used = column_or_1d(used, warn=True)
        codes, self.classes_ = encode_classes(self, used)
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        if not targets.by_step:
            codes = np.repeat(codes, sequences.lengths)
        return targets.taken(codes)

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
            One label for each sequence, or a list with the labels of each sequence's steps.
        sample_weight
            Weights of the sequences.
        lengths
            Steps of each sequence, where X is one array.
        mask
            In the form of labels by step, which of them count.
        """
        self._fit_sequences(X, y, sample_weight, lengths, mask)
        return self

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """Return the probability of each class: for each sequence, or for each of its steps.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        """
        sequences, states = self._run(X, lengths)
        outputs = states.outputs
        if len(self.classes_) == 2:
            outputs = np.hstack([1.0 - outputs, outputs])
        return self._given_back(sequences, outputs)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the most probable class of each sequence, or of each of its steps.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        """
        shares = self.predict_proba(X, lengths)
        if isinstance(shares, list):
            return [self.classes_[part.argmax(axis=1)] for part in shares]
        return self.classes_[shares.argmax(axis=1)]

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None, mask: Any = None
    ) -> float:
        """Return the share of right labels: of sequences, or of their steps that count.

        Parameters
        ----------
        X, y, sample_weight, lengths, mask
            As in `fit`.
        """
        answers = self.predict(X, lengths)
        sequences = read_series(self, X, lengths, reset=False)
        targets = read_targets(y, sequences, mask)
        if not self._by_step:
            right = answers == targets.values[sequences.starts[1:] - 1]
            return float(np.average(right, weights=sample_weight))
        flat = np.concatenate(answers) if isinstance(answers, list) else answers
        counts = targets.mask.astype(np.float64)
        if sample_weight is not None:
            counts *= np.repeat(np.asarray(sample_weight, dtype=np.float64), sequences.lengths)
        return float(np.average(flat == targets.values, weights=counts))
