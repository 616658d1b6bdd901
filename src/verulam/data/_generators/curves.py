"""Regression on samples from known functions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.data._dataset import Dataset
from verulam.data._generators.generator_helpers import Seed, checked_count, generator

Floats = NDArray[np.float64]


def noisy_sine(
    n: int = 50,
    *,
    low: float = -0.5,
    high: float = 0.5,
    frequency: float = 6.0,
    noise: float = 0.1,
    random_state: Seed = None,
) -> Dataset:
    r"""Return a sine with noise: ``y = sin(frequency * x) + noise``.

    Parameters
    ----------
    n
        Number of rows.
    low, high
        Inputs are uniform between these.
    frequency
        Of the sine.
    noise
        Standard deviation of the noise.
    random_state
        Seed.

    Notes
    -----
    The defaults are those of Alpaydin 11.7 (Fig. 11.8), which leaves open how many points there
    are and whether 0.1 is a variance; it is a standard deviation here.

    Examples
    --------
    >>> from verulam.data import noisy_sine
    >>> noisy_sine(3, noise=0, random_state=0).table.round(3)
          x1      y
    0  0.137  0.732
    1 -0.230 -0.982
    2 -0.459 -0.378
    """
    return _curve(lambda x: np.sin(frequency * x), n, low, high, noise, random_state, "noisy_sine")


def polynomial(
    coefficients: ArrayLike = (0.0, -1.0, 0.0, 1.0),
    n: int = 50,
    *,
    low: float = -1.5,
    high: float = 1.5,
    noise: float = 0.2,
    random_state: Seed = None,
) -> Dataset:
    """Return a polynomial with noise.

    Parameters
    ----------
    coefficients
        From the constant upwards.
    n
        Number of rows.
    low, high
        Inputs are uniform between these.
    noise
        Standard deviation of the noise.
    random_state
        Seed.
    """
    curve = np.polynomial.Polynomial(np.asarray(coefficients, dtype=float))
    return _curve(curve, n, low, high, noise, random_state, "polynomial")


def linear(
    weights: ArrayLike = (1.0, -2.0, 0.0),
    n: int = 100,
    *,
    intercept: float = 0.0,
    noise: float = 1.0,
    random_state: Seed = None,
) -> Dataset:
    """Return a linear function of standard normal inputs, with noise.

    Parameters
    ----------
    weights
        One per input; inputs with weight 0 do not matter.
    n
        Number of rows.
    intercept
        Added to the weighted sum.
    noise
        Standard deviation of the noise.
    random_state
        Seed.
    """
    random = generator(random_state)
    slopes = np.atleast_1d(np.asarray(weights, dtype=float))
    inputs = random.standard_normal((checked_count(n), len(slopes)))
    return _with_noise(inputs, intercept + inputs @ slopes, noise, random, "linear")


def friedman(
    n: int = 200, *, n_features: int = 10, noise: float = 1.0, random_state: Seed = None
) -> Dataset:
    r"""Return Friedman's first function of uniform inputs, of which only five matter.

    Parameters
    ----------
    n
        Number of rows.
    n_features
        Number of inputs, at least 5.
    noise
        Standard deviation of the noise.
    random_state
        Seed.

    Notes
    -----
    .. math:: y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - \tfrac12)^2 + 10 x_4 + 5 x_5 + \epsilon
    """
    if n_features < 5:
        raise ValueError(f"n_features={n_features}; at least 5 are needed.")
    random = generator(random_state)
    inputs = random.uniform(size=(checked_count(n), n_features))
    one, two, three, four, five = inputs[:, :5].T
    values = 10 * np.sin(np.pi * one * two) + 20 * (three - 0.5) ** 2 + 10 * four + 5 * five
    return _with_noise(inputs, values, noise, random, "friedman")


def _curve(
    function: Callable[[Floats], Floats],
    n: int,
    low: float,
    high: float,
    noise: float,
    random_state: Seed,
    name: str,
) -> Dataset:
    if not low < high:
        raise ValueError(f"low={low} must be below high={high}.")
    random = generator(random_state)
    inputs = random.uniform(low, high, size=(checked_count(n), 1))
    return _with_noise(inputs, function(inputs[:, 0]), noise, random, name)


def _with_noise(
    inputs: Floats, values: Floats, noise: float, random: np.random.Generator, name: str
) -> Dataset:
    if noise < 0:
        raise ValueError(f"noise={noise}; a standard deviation is not negative.")
    targets = values + noise * random.standard_normal(len(values))
    return Dataset.from_arrays(inputs, targets, target_name="y", task="regression", name=name)
