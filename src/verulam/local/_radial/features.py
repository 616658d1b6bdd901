"""Radial basis functions as a transformer: rows become activations of local units."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import (
    RANDOM_STATE,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    map_rows,
    spawn_seeds,
    validate_data,
)
from verulam.local._radial.mixing import softmax_rows
from verulam.local._radial.placing import PLACINGS, owners, place_units
from verulam.local._radial.training import POSITIVE, usable_weights
from verulam.local._radial.units import UNIT_TYPES, FloatArray


class RBFFeatures(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Write rows as activations of radial units, which code where they lie.

    .. math:: p_h = \exp\Bigl[-\frac{\|x - m_h\|^2}{2 s_h^2}\Bigr]

    Parameters
    ----------
    n_units
        Number of units.
    init : "k-means", "online", "mixture", "random" or array of shape (n_units, n_features)
        Where centres are placed: by k-means, by k-means that learns row by row, by a mixture of
        Gaussians, whose covariances are taken too, at rows drawn at random (anchors), or there.
    covariance_type
        Form of the units: "spherical", "diag" or "full".
    bandwidth : "farthest", float or array
        Spreads: a share of the distance of the farthest row that a unit owns, or numbers in the
        units of the columns; covariances for "full".
    spread_share
        That share. With a half, as Alpaydin has it, bells are apart and rules can be read one by
        one; with one or two they overlap, which often predicts better.
    coding
        "bells" for :math:`p_h`, "shares" for :math:`p_h / \sum_l p_l`, "nearest" for 1 at the
        nearest centre and 0 elsewhere.
    random_state
        Seed of the centres.

    Attributes
    ----------
    units_ : RadialUnits
        Centres and squared spreads of the units.

    Notes
    -----
    See Alpaydin 12.3 (12.13, fig. 12.6, ex. 2) and SIT1305 V. Two spreads away a bell has
    :math:`e^{-2}`, three away :math:`e^{-4.5}`.

    Examples
    --------
    >>> from verulam.local import RBFFeatures
    >>> bells = RBFFeatures(init=[[0.0]], bandwidth=1.0).fit([[0.0], [1.0]])
    >>> bells.transform([[0.0], [2.0], [3.0]]).round(4).ravel()
    array([1.    , 0.1353, 0.0111])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_units": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({*PLACINGS}), "array-like"],
        "covariance_type": [StrOptions({*UNIT_TYPES})],
        "bandwidth": [StrOptions({"farthest"}), POSITIVE, "array-like"],
        "spread_share": [POSITIVE],
        "coding": [StrOptions({"bells", "shares", "nearest"})],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_units: int = 20,
        *,
        init: Any = "k-means",
        covariance_type: str = "spherical",
        bandwidth: Any = "farthest",
        spread_share: float = 0.5,
        coding: str = "bells",
        random_state: Seed = None,
    ) -> None:
        self.n_units = n_units
        self.init = init
        self.covariance_type = covariance_type
        self.bandwidth = bandwidth
        self.spread_share = spread_share
        self.coding = coding
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["RBFFeatures"]:
        return [cls(5), cls(3, init="mixture", covariance_type="full", coding="shares")]

    @checked_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Place the units.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Not used.
        sample_weight
            Weights of the rows.
        """
        rows = validate_data(self, X, dtype=np.float64)
        self.units_ = place_units(
            rows,
            usable_weights(sample_weight, rows),
            n_units=int(self.n_units),
            init=self.init,
            covariance_type=self.covariance_type,
            bandwidth=self.bandwidth,
            spread_share=float(self.spread_share),
            seed=spawn_seeds(self.random_state, 1)[0],
        )
        self._n_features_out = len(self.units_.centers)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the activations of the units, rows by units."""
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, dtype=np.float64, reset=False)
        # Around the middle of the units, products of matrices lose no digits.
        origin = self.units_.centers.mean(axis=0)
        units = self.units_.moved(origin, 1.0)
        layout, theta = units.layout, units.layout.flat(units)

        def of_part(part: FloatArray) -> FloatArray:
            if self.coding == "nearest":
                return np.eye(len(units.centers))[owners(part - origin, units.centers)]
            logarithms = -0.5 * layout.squares(theta, part - origin)
            return softmax_rows(logarithms) if self.coding == "shares" else np.exp(logarithms)

        return map_rows(of_part, rows, (len(rows), self._n_features_out))
