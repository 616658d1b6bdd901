"""Deep networks layer by layer: codes of codes, then a supervised top, then all together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import (
    NONE,
    DataError,
    check_parameters,
    checked_arguments,
    clone,
    generator,
    is_classifier,
    one_blas_thread,
    spawn_seeds,
    whole_trainings,
)
from verulam.neural._arguments import ROWS, TARGETS
from verulam.neural._codes.autoencoder import Autoencoder
from verulam.neural._network.layout import layout_of
from verulam.neural._network.network import Network, TrainingError
from verulam.neural._perceptron.classifier import MLPClassifier
from verulam.neural._perceptron.regressor import MLPRegressor
from verulam.numerics import History, Stopping, train_by_search

#: Iterations that train the top layer alone.
TOP_EPOCHS = 200


@dataclass(frozen=True)
class Pretraining:
    """A deep network that was trained layer by layer.

    Attributes
    ----------
    learner
        The network, fine-tuned on the labelled rows, fitted.
    layers : DataFrame
        For each hidden layer: its units, the share of the variance of its inputs that it gives
        back, and epochs.
    init : ndarray
        All weights before fine-tuning.
    """

    learner: Any
    layers: pd.DataFrame
    init: NDArray[np.floating]


@checked_arguments(X=ROWS, y=TARGETS, unlabelled=ROWS | NONE)
@whole_trainings()
def pretrain(
    learner: Any, X: Any, y: Any, *, unlabelled: Any = None, coder: Autoencoder | None = None
) -> Pretraining:
    """Train a deep network one layer at a time, with unlabelled rows, then fine-tune it.

    Parameters
    ----------
    learner
        A `verulam.neural.MLPClassifier` or `verulam.neural.MLPRegressor`, whose settings are used.
    X, y
        Labelled rows.
    unlabelled
        Further rows without labels, which help to find the hidden layers.
    coder
        Settings of the autoencoders, whose layers and units are those of the learner; None stands
        for `Autoencoder()` with its seed.

    Returns
    -------
    Pretraining
        The fine-tuned network, what each layer came to, and the weights before fine-tuning.

    Notes
    -----
    See Alpaydin 11.13 (Hinton and Salakhutdinov, 2006). The hidden layer of an autoencoder of the
    rows is the first layer; one of its outputs is the second, and so on. The outputs are trained on
    the labelled rows with all that fixed, and the whole is the start of the learner's own training.
    The purely supervised network to compare with is the learner by itself.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from verulam.neural import MLPClassifier, pretrain
    >>> X, y = load_digits(return_X_y=True)
    >>> net = MLPClassifier((16, 8), activation="tanh", tol=1e-2, random_state=0)
    >>> result = pretrain(net, X[:60] / 16, y[:60], unlabelled=X[60:400] / 16)
    >>> result.layers["units"].tolist()
    [16, 8]
    >>> result.learner.predict(X[:2] / 16).shape
    (2,)
    """
    _check(learner, coder)
    # The learner is read with, and stays as it came.
    learner = clone(learner)
    rows = learner._read(X, reset=True)
    seeds = spawn_seeds(learner.random_state, 2)
    full, codes = _layer_by_layer(learner, rows, unlabelled, coder, seeds[0])
    prepared = clone(learner).set_params(n_init=1)
    targets = _prepare(prepared, rows, y)
    network = prepared._network(rows.shape[1])
    theta = network.layout.start(generator(seeds[1]), "glorot", learner.activation, rows.dtype)
    for layer, (weights, biases) in enumerate(full[0]):
        network.layout.weights(theta, layer)[:] = weights
        network.layout.biases(theta, layer)[:] = biases
    last = network.layout.n_layers - 1
    top_weights, top_biases = _top(network, codes[: len(rows)], targets, float(learner.alpha))
    network.layout.weights(theta, last)[:] = top_weights
    network.layout.biases(theta, last)[:] = top_biases
    if network.layout.skip:
        network.layout.skip_weights(theta)[:] = 0.0
    fitted = prepared.set_params(init=theta.copy()).fit(X, y)
    table = pd.DataFrame(full[1], columns=["units", "explained", "epochs"])
    return Pretraining(fitted, table, theta)


def _check(learner: Any, coder: Any) -> None:
    if not isinstance(learner, MLPClassifier | MLPRegressor):
        raise DataError(
            "learner: an MLPClassifier or MLPRegressor of verulam.neural is trained layer by "
            f"layer; got {type(learner).__name__}."
        )
    if coder is not None and not isinstance(coder, Autoencoder):
        raise DataError(f"coder: expected an Autoencoder, or None; got {type(coder).__name__}.")
    check_parameters(learner)
    if learner.masks is not None or learner.tied is not None:
        raise DataError("learner: autoencoders have neither masks nor ties; leave them out.")


def _layer_by_layer(
    learner: Any, rows: NDArray[np.floating], unlabelled: Any, coder: Any, seed: int
) -> tuple[Any, NDArray[np.floating]]:
    """Return the weights and biases of the hidden layers with what they explain, and the codes."""
    everything = rows
    if unlabelled is not None:
        everything = np.vstack([rows, learner._read(unlabelled, reset=False)])
    layers, table, codes = [], [], everything
    for units in learner._hidden_sizes():
        model = Autoencoder(tol=1e-3) if coder is None else clone(coder)
        model.set_params(hidden_layer_sizes=units, activation=learner.activation)
        if coder is None:
            model.set_params(random_state=seed)
        model.fit(codes)
        variance = float(codes.var(axis=0).sum()) or 1.0
        lost = float(model.reconstruction_error(codes).mean()) / variance
        table.append((units, 1.0 - lost, model.n_iter_))
        layers.append((model.coefs_[0], model.intercepts_[0]))
        codes = model.transform(codes)
    return (layers, table), codes


def _prepare(prepared: Any, rows: NDArray[np.floating], y: Any) -> NDArray[Any]:
    """Return the targets as a network takes them, and let the learner know their number."""
    if is_classifier(prepared):
        _, codes, _ = prepared._prepared(rows, y, None)
        return codes
    return prepared._prepared(rows, y)[1]


def _top(
    network: Network, codes: NDArray[np.floating], targets: NDArray[Any], alpha: float
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return weights and biases of the outputs, trained on the codes of the labelled rows."""
    top = layout_of((codes.shape[1], network.layout.sizes[-1]))
    error = TrainingError(
        Network(top, "identity", network.output), np.ascontiguousarray(codes), targets, None, alpha
    )
    theta = np.zeros(top.n_parameters, dtype=codes.dtype)
    with one_blas_thread():
        for _ in train_by_search(
            error, theta, "lbfgs", Stopping(TOP_EPOCHS, 1e-4), None, History()
        ):
            pass
    return top.weights(theta, 0), top.biases(theta, 0)
