"""Classification of whole sequences: one hidden Markov model per class."""

from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    encode_classes,
    spawn_seeds,
    validate_data,
)
from verulam.numerics import softmax
from verulam.sequence._data.sequences import Sequences, read_sequences
from verulam.sequence._learners.discriminative import sharpen
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.emission import Emission


class HMMClassifier(Classifier):
    r"""Model the sequences of each class by a hidden Markov model, and apply Bayes' rule.

    Parameters
    ----------
    estimator
        The model of each class; None stands for `HiddenMarkovModel()`.
    priors
        Prior of each class in the order of the sorted labels, "equal", or None for the shares in
        the training data.
    discriminative_iter
        Steps of discriminative training after each model has been fitted to its class: they
        raise the posteriors of the right classes, for categorical and diagonal Gaussian
        emissions.
    learning_rate
        Size of the first step of discriminative training.
    random_state
        Seed of the models' starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    models_ : list of HiddenMarkovModel
        One model per class.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    conditional_curve_ : list of float
        Mean log-posterior of the right class, before and after each step of discriminative
        training; it never falls.
    n_features_in_ : int
        Columns of the sequences, or steps where rows of a table are sequences.

    Notes
    -----
    :math:`P(\lambda_i \mid O) = P(O \mid \lambda_i) P(\lambda_i) / \sum_j P(O \mid \lambda_j)
    P(\lambda_j)`, Alpaydin 15.10 (15.42). Each element of a list is a sequence with one label. A
    two-dimensional array of numbers is taken as one sequence of single numbers per row.

    Examples
    --------
    >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel, HMMClassifier
    >>> X = [[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0]]
    >>> model = HiddenMarkovModel(2, CategoricalEmission(prior=0.1), max_iter=500)
    >>> classifier = HMMClassifier(model, random_state=1).fit(X, ["up", "up", "down", "down"])
    >>> classifier.predict([[0, 0, 0, 1], [1, 0, 0, 0]])
    array(['up', 'down'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HiddenMarkovModel, None],
        "priors": ["array-like", str, None],
        "discriminative_iter": [Interval(Integral, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "random_state": RANDOM_STATE,
    }
    _takes_sequences: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_classifiers_train": "a list of lists is a list of sequences, of any length",
    }

    def __init__(
        self,
        estimator: HiddenMarkovModel | None = None,
        *,
        priors: Any = None,
        discriminative_iter: int = 0,
        learning_rate: float = 1.0,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.priors = priors
        self.discriminative_iter = discriminative_iter
        self.learning_rate = learning_rate
        self.random_state = random_state

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        labels = np.array(["rise", "fall"] * 8)
        sequences = np.empty(16, dtype=object)
        for place, label in enumerate(labels):
            steps = np.repeat([0.0, 2.0] if label == "rise" else [2.0, 0.0], 6)
            sequences[place] = steps[:, None] + random.normal(0.0, 0.5, size=(12, 1))
        return sequences, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit_with_parts
    def fit(self, X: Any, y: Any, *, lengths: Any = None) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X
            A list of sequences, or one array with lengths.
        y
            One label per sequence.
        lengths
            Steps of each sequence, where X is one array.
        """
        pieces = self._pieces(X, lengths, True)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(pieces):
            raise DataError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{len(pieces)} sequences and y has {len(codes)} labels."
            )
        if len(self.classes_) < 2:
            only = str(self.classes_[0])
            raise DataError(f"HMMClassifier needs at least two classes; y has one class: {only!r}.")
        self.priors_ = self._class_priors(codes)
        self.models_ = []
        shared = self._emission(pieces)
        for k, seed in enumerate(spawn_seeds(self.random_state, len(self.classes_))):
            model = clone(self.estimator) if self.estimator is not None else HiddenMarkovModel()
            model.set_params(random_state=seed, emission=shared)
            self.models_.append(model.fit([pieces[s] for s in np.flatnonzero(codes == k)]))
        self.conditional_curve_ = []
        if self.discriminative_iter:
            read = [model._read(pieces, None) for model in self.models_]
            result = sharpen(
                [model.model_ for model in self.models_],
                read,
                codes,
                np.log(self.priors_),
                self.discriminative_iter,
                self.learning_rate,
            )
            self.conditional_curve_ = result.curve
            for model, better in zip(self.models_, result.models, strict=True):
                model._store(better)
        return self

    def _emission(self, pieces: list[np.ndarray]) -> Emission | None:
        """Return the emission of all classes; symbols that one class lacks are known to it."""
        emission = None if self.estimator is None else self.estimator.emission
        if emission is None or emission.numeric:
            return emission
        return emission.closed(np.concatenate(pieces))

    def _pieces(self, X: Any, lengths: Any, reset: bool) -> list[np.ndarray]:
        """Return a list of sequences; a row of a table is a sequence of single numbers."""
        nested = isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1
        if lengths is None and not (nested or isinstance(X, list | tuple)):
            if reset:
                self._from_table = True
            if not self._from_table:
                # After a fit to lists, sequences may have any length, and so may rows.
                return [row[:, None] for row in np.asarray(X, dtype=np.float64)]
            table = validate_data(
                self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
            )
            return [row[:, None] for row in table]
        sequences: Sequences = read_sequences(X, lengths)
        if reset:
            self._from_table = False
            self.n_features_in_ = sequences.values.shape[1]
        starts = sequences.starts
        return [sequences.values[a:b] for a, b in pairwise(starts)]

    def _class_priors(self, codes: np.ndarray) -> np.ndarray:
        n_classes = len(self.classes_)
        if self.priors is None:
            return np.bincount(codes, minlength=n_classes) / len(codes)
        if isinstance(self.priors, str):
            if self.priors != "equal":
                raise DataError(f"priors is {self.priors!r}; expected 'equal', numbers or None.")
            return np.full(n_classes, 1.0 / n_classes)
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (n_classes,) or (priors < 0).any() or priors.sum() <= 0:
            raise DataError(f"priors needs {n_classes} numbers that are not negative.")
        return priors / priors.sum()

    def predict_log_likelihood(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Return the log-likelihood of each sequence under each class's model."""
        check_is_fitted(self)
        pieces = self._pieces(X, lengths, False)
        return np.column_stack([model.score_sequences(pieces) for model in self.models_])

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Return the posterior of each class for each sequence."""
        with np.errstate(divide="ignore"):
            joint = self.predict_log_likelihood(X, lengths) + np.log(self.priors_)
        lost = np.isneginf(joint).all(axis=1)
        joint[lost] = np.log(np.maximum(self.priors_, 1e-300))
        return softmax(joint, axis=1)

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Return the most probable class of each sequence."""
        best = self.predict_proba(X, lengths).argmax(axis=1)
        return self.classes_[best]
