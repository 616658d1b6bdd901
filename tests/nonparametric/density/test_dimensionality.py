"""Many dimensions: cells of a grid, and the sample sizes of the notes' table."""

import numpy as np
import pytest

from verulam.nonparametric import DimensionalityReport, dimensionality, required_sample_size


@pytest.mark.parametrize(
    ("n_columns", "rows"),
    [(1, 3.04), (2, 18.3), (5, 767.7), (7, 10_730), (10, 841_565)],
)
def test_table_of_sample_sizes(n_columns, rows):
    assert required_sample_size(n_columns) == pytest.approx(rows, rel=2e-3)


@pytest.mark.parametrize(
    ("n_columns", "printed"), [(1, 4), (2, 19), (5, 768), (7, 10_700), (10, 842_000)]
)
def test_table_as_printed(n_columns, printed):
    """Rounded up below a thousand, then to three digits; 768 is printed as 786."""
    rows = required_sample_size(n_columns)
    shown = np.ceil(rows) if rows < 1000 else float(f"{rows:.3g}")
    assert shown == printed


def test_error_at_the_found_size_is_the_one_asked_for():
    """Simulated: the mean square error of the best window, over the squared density."""
    rows = round(required_sample_size(2, 0.1))
    rng = np.random.default_rng(0)
    squares = (rng.normal(size=(40_000, rows, 2)) ** 2).sum(axis=2)
    errors = []
    for width in (0.6, 0.7, 0.8):
        heights = np.exp(-0.5 * squares / width**2).mean(axis=1) / (2 * np.pi * width**2)
        errors.append(np.mean((heights * 2 * np.pi - 1.0) ** 2))
    assert min(errors) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("n_columns", "error"), [(3, 0.02), (2, 0.2)])
def test_best_window_at_the_found_size_has_the_error_asked_for(n_columns, error):
    """Bias and variance by numerical integration, the least of their sum over many widths."""
    rows = required_sample_size(n_columns, error)
    grid, step = np.linspace(-9.0, 9.0, 3601, retstep=True)
    normal = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    errors = []
    for width in np.linspace(0.2, 1.2, 401):
        window = np.exp(-0.5 * (grid / width) ** 2) / width
        mean = (step * window @ normal) ** n_columns
        second = (step * window**2 @ normal) ** n_columns
        errors.append((1.0 - mean) ** 2 + (second - mean**2) / rows)
    assert 0 < np.argmin(errors) < 400
    assert min(errors) == pytest.approx(error, rel=1e-3)


def test_ten_bins_in_eight_columns():
    report = dimensionality(np.random.default_rng(0).random((1000, 8)))
    assert report.n_cells == 1e8
    assert report.occupied <= 1000
    assert report.empty_share >= 0.99999


def test_report_of_a_small_grid():
    # The largest values share the last cell with those just below, and have none of their own.
    X = np.array([[0.0, 0.0], [1.0, 100.0], [0.9, 90.0], [0.0, 100.0]])
    report = dimensionality(X, bins=2)
    assert (report.n_cells, report.occupied, report.empty_share) == (4.0, 3, 0.25)
    assert report.rows_per_cell == 1.0
    assert dimensionality(X[[0, 1, 3]], bins=2).scale_ratio == pytest.approx(100.0)
    assert dimensionality(np.ones((4, 2))).scale_ratio == np.inf


def test_bad_requests():
    with pytest.raises(ValueError, match="n_columns must be at least 1"):
        required_sample_size(0)
    with pytest.raises(ValueError, match="relative_error must lie between 0 and 1"):
        required_sample_size(1, 1.5)
    with pytest.raises(ValueError, match="bins must be at least 1"):
        dimensionality(np.ones((2, 2)), bins=0)
    with pytest.raises(ValueError, match="Expected 2D array"):
        dimensionality(np.ones(3))


def test_the_report_in_words():
    report = DimensionalityReport(100.0, 25, 0.75, 0.5, 3.0)
    assert str(report) == "100 cells, 75.00% of them empty, 0.5 rows per cell; scales differ by 3"
