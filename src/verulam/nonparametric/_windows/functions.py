"""Window functions: what one stored point contributes to the neighbourhood around it.

A window is a function of the distance to its centre in units of the bandwidth. Its integral over
all of space, its variance and its roughness follow from integrals along the radius.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import beta, betainc, gammaln, ndtr

from verulam.base import DataError, unknown_name

#: How compiled loops know a window: Gaussian, exponential, ``(1 - u^inner)^outer``, cosine, other.
GAUSSIAN, EXPONENTIAL, POWERS, COSINE, OTHER = range(5)

Profile = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Window:
    r"""A radially symmetric window :math:`\phi(\|u\|)` of height :math:`\phi(0) = 1`.

    Attributes
    ----------
    name
        Its name.
    profile
        Maps distances :math:`\|u\| \ge 0` to heights. Divide by ``norm(d)`` for a density in
        :math:`d` dimensions.
    radius
        Distance beyond which it is zero; infinite where it has tails.
    code, inner, outer
        How compiled loops evaluate it: one of the codes of this module, and the exponents of
        :math:`(1 - u^{inner})^{outer}`.
    """

    name: str
    profile: Profile
    radius: float = 1.0
    code: int = OTHER
    inner: float = 1.0
    outer: float = 0.0

    def __call__(self, distances: np.ndarray) -> np.ndarray:
        """Return the heights at some distances."""
        return np.where(distances <= self.radius, self.profile(distances), 0.0)

    def radial_integral(self, power: float, exponent: float = 1.0) -> float:
        r"""Return :math:`\int_0^\infty \phi(r)^{exponent} r^{power} dr`."""
        if self.code == GAUSSIAN:
            half = (power + 1.0) / 2.0
            return 0.5 * math.exp(gammaln(half) + half * math.log(2.0 / exponent))
        if self.code == EXPONENTIAL:
            return math.exp(gammaln(power + 1.0) - (power + 1.0) * math.log(exponent))
        if self.code == POWERS:
            # Substituting t = r^inner turns the integral into Euler's beta function.
            return float(beta((power + 1.0) / self.inner, exponent * self.outer + 1.0)) / self.inner
        return _quadrature(self, power, exponent)

    def norm(self, n_columns: int) -> float:
        """Return the integral over a space of `n_columns` dimensions."""
        return math.exp(self.log_norm(n_columns))

    def log_norm(self, n_columns: int) -> float:
        """Return the logarithm of `norm`, which is safe in many dimensions."""
        if self.code == GAUSSIAN:
            return 0.5 * n_columns * math.log(2.0 * math.pi)
        # Shells of radius r have the surface d c_d r^(d-1).
        inside = self.radial_integral(n_columns - 1.0)
        return math.log(n_columns) + log_ball_volume(n_columns) + math.log(inside)

    def variance(self, n_columns: int = 1) -> float:
        """Return the variance along any one axis, of the window as a density."""
        second = self.radial_integral(n_columns + 1.0)
        return second / self.radial_integral(n_columns - 1.0) / n_columns

    def roughness(self, n_columns: int = 1) -> float:
        """Return the integral of the squared density."""
        shell = n_columns * ball_volume(n_columns)
        squares = self.radial_integral(n_columns - 1.0, 2.0)
        return squares / self.radial_integral(n_columns - 1.0) ** 2 / shell

    def cumulative(self, values: np.ndarray) -> np.ndarray:
        """Return the share of a window in one dimension that lies below each value."""
        if self.code == GAUSSIAN:
            return ndtr(values)
        radii = np.minimum(np.abs(values), self.radius)
        if self.code == EXPONENTIAL:
            shares = -np.expm1(-radii)
        elif self.code == POWERS:
            shares = betainc(1.0 / self.inner, self.outer + 1.0, radii**self.inner)
        elif self.code == COSINE:
            shares = np.sin(0.5 * np.pi * radii)
        else:
            grid, sums = _radial_table(self, 1)
            shares = np.interp(radii, grid, sums)
        return 0.5 + 0.5 * np.sign(values) * shares

    def draw(self, shape: tuple[int, int], chance: np.random.Generator) -> np.ndarray:
        """Return points (rows, columns) drawn from the window as a density."""
        points = chance.normal(size=shape)
        if self.code == GAUSSIAN:
            return points
        n_rows, n_columns = shape
        # A Gaussian vector has a uniform direction; only its length is replaced.
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        return points * self._draw_radii(n_rows, n_columns, chance)[:, None]

    def _draw_radii(self, count: int, n_columns: int, chance: np.random.Generator) -> np.ndarray:
        if self.code == EXPONENTIAL:
            # The density of the radius is proportional to r^(d-1) e^-r: a gamma distribution.
            return chance.gamma(n_columns, size=count)
        if self.code == POWERS:
            # With t = r^inner, that of t is proportional to t^(d/inner - 1) (1 - t)^outer.
            powers = chance.beta(n_columns / self.inner, self.outer + 1.0, size=count)
            return powers ** (1.0 / self.inner)
        grid, sums = _radial_table(self, n_columns)
        return np.interp(chance.random(count), sums, grid)


@dataclass(frozen=True)
class _PowersProfile:
    """Heights ``(1 - u^inner)^outer``; a class, so that it can be pickled."""

    inner: float
    outer: float

    def __call__(self, distances: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - distances**self.inner, 0.0) ** self.outer


@dataclass(frozen=True)
class _UserProfile:
    """A user's function, scaled to height 1."""

    function: Profile
    height: float

    def __call__(self, distances: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(distances), dtype=np.float64) / self.height


def _powers(name: str, inner: float, outer: float) -> Window:
    return Window(name, _PowersProfile(inner, outer), 1.0, POWERS, inner, outer)


def _gaussian_profile(distances: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * np.square(distances))


def _exponential_profile(distances: np.ndarray) -> np.ndarray:
    return np.exp(-distances)


def _cosine_profile(distances: np.ndarray) -> np.ndarray:
    return np.cos(0.5 * np.pi * distances)


#: The usual windows by name.
WINDOWS: dict[str, Window] = {
    window.name: window
    for window in (
        Window("gaussian", _gaussian_profile, math.inf, GAUSSIAN),
        Window("exponential", _exponential_profile, math.inf, EXPONENTIAL),
        _powers("tophat", 1.0, 0.0),
        _powers("linear", 1.0, 1.0),
        _powers("epanechnikov", 2.0, 1.0),
        _powers("biweight", 2.0, 2.0),
        _powers("triweight", 2.0, 3.0),
        _powers("tricube", 3.0, 3.0),
        Window("cosine", _cosine_profile, 1.0, COSINE),
    )
}


def find_window(window: str | Window | Profile) -> Window:
    """Return the window behind a name, a record, or a function of the distance.

    A function must accept an array of distances and return heights that are nowhere negative and
    have a finite, positive integral.

    Examples
    --------
    >>> find_window("epanechnikov").norm(1)
    1.333...
    >>> find_window(lambda u: 1.0 / (1.0 + u**4)).norm(1)
    2.22...
    """
    if isinstance(window, Window):
        return window
    if isinstance(window, str):
        if window not in WINDOWS:
            raise unknown_name("kernel", window, WINDOWS)
        return WINDOWS[window]
    return _user_window(window)


def _user_window(function: Profile) -> Window:
    name = getattr(function, "__name__", "window")
    probe = np.asarray(function(np.linspace(0.0, 40.0, 4001)), dtype=np.float64)
    if probe.shape != (4001,) or not np.isfinite(probe).all():
        raise DataError(
            f"kernel: {name} must return one finite height for each of an array of distances."
        )
    if probe.min() < 0 or probe[0] <= 0:
        raise DataError(
            f"kernel: {name} must be positive at 0 and nowhere negative; its least height is "
            f"{probe.min():.6g} and its height at 0 is {probe[0]:.6g}."
        )
    height = float(probe[0])
    beyond = np.flatnonzero(probe)[-1] + 1
    radius = math.inf if beyond >= len(probe) else beyond * 0.01
    window = Window(name, _UserProfile(function, height), radius)
    # A height that falls no faster than 1/u has no finite integral, whatever a quadrature says.
    with np.errstate(all="ignore"):
        near, far = window(np.array([1e4, 1e8])) if math.isinf(radius) else (0.0, 0.0)
    if far > 1e-4 * near or not np.isfinite(window.radial_integral(0.0)):
        raise DataError(f"kernel: the integral of {name} is not finite.")
    return window


def _radial_table(window: Window, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return radii, and the share of the window within each of them."""
    grid = np.linspace(0.0, min(window.radius, 40.0), 2**14 + 1)
    heights = window(grid) * grid ** (n_columns - 1)
    sums = np.concatenate([[0.0], np.cumsum(heights[1:] + heights[:-1])])
    return grid, sums / sums[-1]


@cache
def _quadrature(window: Window, power: float, exponent: float) -> float:
    from scipy.integrate import IntegrationWarning, quad

    def integrand(radius: float) -> float:
        return float(window(np.array([radius]))[0]) ** exponent * radius**power

    with warnings.catch_warnings():
        # A window may jump; the achieved accuracy is far beyond what a density needs.
        warnings.simplefilter("ignore", IntegrationWarning)
        return float(quad(integrand, 0.0, window.radius, limit=400)[0])


def log_ball_volume(n_columns: int, order: float = 2.0) -> float:
    r"""Return :math:`\ln c_d`, the volume of the unit ball in `n_columns` dimensions.

    `order` is that of Minkowski's distance, infinite for the largest difference.
    """
    side = math.log(2.0) + float(gammaln(1.0 + 1.0 / order))
    return n_columns * side - float(gammaln(1.0 + n_columns / order))


def ball_volume(n_columns: int) -> float:
    r"""Return :math:`c_d = \pi^{d/2} / \Gamma(d/2 + 1)`: 2, :math:`\pi`, :math:`4\pi/3`, ...

    Examples
    --------
    >>> [round(ball_volume(d), 4) for d in (1, 2, 3)]
    [2.0, 3.1416, 4.1888]
    """
    if n_columns < 0:
        raise DataError(f"n_columns must be at least 0, not {n_columns}.")
    return math.exp(log_ball_volume(n_columns))
