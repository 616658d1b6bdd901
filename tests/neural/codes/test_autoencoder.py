"""Codes that are enough to reproduce what they stand for."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.neural import Autoencoder

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(150, 5)) @ RANDOM.normal(size=(5, 5)) * [3.0, 2.0, 1.0, 0.5, 0.2]
ROWS -= ROWS.mean(axis=0)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_linear_units_span_the_principal_components():
    coder = Autoencoder(2, activation="identity", max_iter=5000, tol=1e-8, random_state=0).fit(ROWS)
    values, vectors = np.linalg.eigh(ROWS.T @ ROWS / len(ROWS))
    plane = np.linalg.qr(coder.coefs_[1].T)[0]
    cosines = np.linalg.svd(plane.T @ vectors[:, -2:])[1]
    assert np.arccos(np.clip(cosines, -1, 1)).max() < 1e-3
    lost = coder.reconstruction_error(ROWS).mean()
    assert lost == pytest.approx(values[:3].sum(), rel=1e-5)


def test_a_deep_one_follows_a_curve_that_no_line_can():
    angle = np.linspace(0, np.pi, 80)
    arc = np.column_stack([np.cos(angle), np.sin(angle) - 0.64])
    deep = Autoencoder((6, 1), n_init=4, random_state=0).fit(arc)
    line = Autoencoder(1, activation="identity", random_state=0).fit(arc)
    error = deep.reconstruction_error(arc).mean()
    assert error < 0.1 * line.reconstruction_error(arc).mean()
    code = deep.transform(arc)[:, 0]
    assert np.all(np.diff(code) > 0) or np.all(np.diff(code) < 0)


def test_layers_mirror():
    coder = Autoencoder((4, 3, 2), max_iter=3, random_state=0).fit(ROWS)
    assert coder.network_.layout.sizes == (5, 4, 3, 2, 3, 4, 5)
    assert coder.transform(ROWS).shape == (150, 2)
    np.testing.assert_allclose(
        coder.inverse_transform(coder.transform(ROWS)),
        coder.network_.outputs(coder.parameters_, ROWS),
        atol=1e-12,
    )
    with pytest.raises(DataError, match="codes have 2 columns"):
        coder.inverse_transform(np.zeros((4, 3)))


def test_watched_and_stopped():
    coder = Autoencoder(3, solver="adam", early_stopping=True, max_iter=30, random_state=0)
    unseen = [epoch.validation_loss for epoch in coder.epochs(ROWS)]
    assert len(coder.history_) == len(unseen)
    assert np.isfinite(unseen).all()


def test_weights_are_repeated_rows():
    counts = np.arange(150) % 3
    weighted = Autoencoder(2, max_iter=10, random_state=0).fit(ROWS, sample_weight=counts)
    repeated = Autoencoder(2, max_iter=10, random_state=0).fit(np.repeat(ROWS, counts, axis=0))
    np.testing.assert_allclose(weighted.parameters_, repeated.parameters_, rtol=1e-6)


def test_names_of_the_code():
    coder = Autoencoder(2, max_iter=3, random_state=0).fit(ROWS)
    assert list(coder.get_feature_names_out()) == ["autoencoder0", "autoencoder1"]
    table = coder.set_output(transform="pandas").transform(ROWS)
    assert list(table.columns) == ["autoencoder0", "autoencoder1"]
