"""Quality of maps: the formulas, their ends, and scikit-learn's trustworthiness."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness

from verulam.base import DataError
from verulam.reduction import EmbeddingQuality, PrincipalComponents, embedding_quality, stress

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(80, 6))
PLACES = PrincipalComponents(2).fit_transform(ROWS)


@pytest.mark.parametrize("count", [1, 5, 20])
def test_trust_is_scikit_learns_and_continuity_its_mirror(count):
    quality = embedding_quality(ROWS, PLACES, n_neighbors=count)
    assert isinstance(quality, EmbeddingQuality)
    assert quality.trustworthiness == pytest.approx(
        trustworthiness(ROWS, PLACES, n_neighbors=count)
    )
    assert quality.continuity == pytest.approx(trustworthiness(PLACES, ROWS, n_neighbors=count))
    assert quality.n_neighbors == count


def test_a_perfect_map():
    turned = ROWS @ np.linalg.qr(RANDOM.normal(size=(6, 6)))[0]
    quality = embedding_quality(ROWS, turned)
    assert quality.trustworthiness == quality.continuity == 1.0
    assert quality.stress == pytest.approx(0.0, abs=1e-20)
    assert quality.distance_correlation == pytest.approx(1.0)


def test_stresses_are_those_of_the_function():
    matrix = cdist(ROWS, ROWS)
    quality = embedding_quality(matrix, PLACES, metric="precomputed")
    assert quality.stress == stress(matrix, PLACES).stress
    assert quality.sammon_stress == stress(matrix, PLACES, weighting="sammon").stress
    upper = np.triu_indices(80, 1)
    expected = np.corrcoef(matrix[upper], cdist(PLACES, PLACES)[upper])[0, 1]
    assert quality.distance_correlation == pytest.approx(expected)


def test_bad_input():
    with pytest.raises(DataError, match="80 rows and embedding has 3"):
        embedding_quality(ROWS, PLACES[:3])
    with pytest.raises(DataError, match=r"n_neighbors=40: .* half of the 80 rows"):
        embedding_quality(ROWS, PLACES, n_neighbors=40)
    with pytest.raises(DataError, match="embedding must be a table of finite"):
        embedding_quality(ROWS, PLACES * np.nan)
