"""The Bayes decision rule, its regions and its error where priors and densities are known."""

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from verulam.base import DataError, Seed, generator
from verulam.decision._bayes import PerClass, check_priors, log_priors, normalise
from verulam.decision._class_density import as_class_density, check_alike
from verulam.decision._discriminants import dichotomizer, discriminants
from verulam.decision._error_integrals import bulk_points, cut_line, line_masses, plane_masses
from verulam.decision._loss import Loss, LossTable, as_labels, loss_table
from verulam.decision._outcome import Estimate, LabelCodes, Outcome
from verulam.decision._partition import Partition, Rule
from verulam.measures import RocCurve

Vector = NDArray[np.float64]


class KnownDensities:
    r"""Classes with known priors and densities, and the best decisions there can be.

    Methods that decide take a `loss` (a `LossTable`, or anything that `loss_table` takes) and a
    `reject_cost`; without them, the error is minimised.

    Parameters
    ----------
    priors
        Probability of each class; None makes them equal.
    densities
        Density of each class: frozen `scipy.stats` distributions (of one or several inputs,
        continuous or discrete), functions that return a density, or `ClassDensity` records.
        A dictionary names the classes.
    classes
        Names of the classes; 0, 1, ... if neither these nor a dictionary are given.

    Notes
    -----
    The decision that maximises :math:`P_j\,p(x \mid j)` has the least error,
    :math:`e_B = 1 - \int \max_j P_j\,p(x \mid j)\,dx`. For two classes it is the first where
    the likelihood ratio :math:`p(x \mid 1) / p(x \mid 2)` exceeds :math:`P_2 / P_1`
    (Bartkowiak 2.2-2.3).

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from verulam.decision import KnownDensities
    >>> model = KnownDensities([0.5, 0.5], {"normal": norm(0, 1), "attack": norm(2, 1)})
    >>> model.posterior(1.5).round(3)
    array([0.269, 0.731])
    >>> model.regions().boundaries.round(6)
    array([1.])
    >>> round(model.bayes_error(), 6)
    0.158655
    >>> round(model.roc().area, 5)
    0.92135
    """

    def __init__(
        self,
        priors: PerClass | None,
        densities: Sequence[Any] | Mapping[Any, Any],
        *,
        classes: Sequence[Any] | None = None,
    ) -> None:
        if isinstance(densities, Mapping):
            if classes is not None:
                raise DataError("classes is not needed: the dictionary of densities names them.")
            classes, densities = list(densities), list(densities.values())
        names = range(len(densities)) if classes is None else classes
        self.classes = as_labels(names)
        if len(self.classes) < 2 or len(densities) != len(self.classes):
            raise DataError(
                "densities and classes must be equally many, two or more, but there are "
                f"{len(densities)} and {len(self.classes)}."
            )
        self.priors = check_priors(priors, self.classes)
        self.densities = tuple(as_class_density(density) for density in densities)
        check_alike(self.densities)
        self.dimensions = self.densities[0].dimensions
        self.discrete = self.densities[0].discrete

    def log_joint(self, x: ArrayLike) -> Vector:
        """Return log prior plus log density of each class, along a new last axis."""
        values = np.asarray(x, dtype=np.float64)
        if self.dimensions > 1 and values.shape[-1:] != (self.dimensions,):
            raise DataError(
                f"x must have {self.dimensions} columns, but its shape is {values.shape}."
            )
        logs = np.stack([density.log_at(values) for density in self.densities], axis=-1)
        return logs + log_priors(self.priors, len(self.classes))

    def evidence(self, x: ArrayLike) -> Vector:
        """Return the density of the input whatever its class."""
        return np.exp(logsumexp(self.log_joint(x), axis=-1))

    def posterior(self, x: ArrayLike) -> Vector:
        """Return the probability of each class (last axis) given the input."""
        return normalise(self.log_joint(x))

    def likelihood_ratio(self, x: ArrayLike, first: Any = None, second: Any = None) -> Vector:
        """Return the density of class `first` over that of `second`: the first two by default."""
        values = np.asarray(x, dtype=np.float64)
        one, other = (
            self.densities[position if label is None else self._position(label)]
            for position, label in enumerate((first, second))
        )
        # In logarithms, for far out both densities underflow; their ratio may be infinite.
        with np.errstate(over="ignore"):
            return np.exp(one.log_at(values) - other.log_at(values))

    def discriminants(self, x: ArrayLike, kind: str = "risk", loss: Any = None) -> Vector:
        """Return functions whose largest value names the decision.

        The `kind` is "joint" or "log joint" (prior times density), "risk", "posterior" or
        "log posterior"; under the 0/1 loss all choose alike.
        """
        if kind in ("joint", "log joint"):
            logs = self.log_joint(x)
            return np.exp(logs) if kind == "joint" else logs
        return discriminants(self.posterior(x), kind, self.losses(loss))

    def log_odds(self, x: ArrayLike) -> Vector:
        """Return the log odds of the first of two classes: the dichotomizer of "log joint".

        They are the logarithm of `likelihood_ratio` plus that of the ratio of the priors.
        """
        return dichotomizer(self.log_joint(x))

    def decide(
        self,
        x: ArrayLike,
        loss: LossTable | Loss | None = None,
        *,
        reject_cost: float | PerClass | None = None,
    ) -> NDArray[Any]:
        """Return the decision of least risk for each input."""
        table = self.losses(loss, reject_cost)
        return table.actions[table.best(self.posterior(x))]

    def decide_unseen(
        self, loss: LossTable | Loss | None = None, *, reject_cost: float | PerClass | None = None
    ) -> Any:
        """Return the decision of least risk from the priors alone."""
        table = self.losses(loss, reject_cost)
        return table.actions[table.best(self.priors)]

    def losses(
        self, loss: LossTable | Loss | None = None, reject_cost: float | PerClass | None = None
    ) -> LossTable:
        """Return the table of losses for these classes."""
        if isinstance(loss, LossTable):
            return loss
        return loss_table(self.classes, loss, reject_cost=reject_cost)

    def regions(
        self,
        loss: LossTable | Loss | None = None,
        *,
        reject_cost: float | PerClass | None = None,
    ) -> Partition:
        """Return the pieces of the line of one input in which each decision is best.

        Boundaries of discrete inputs lie halfway between integers. The line is searched for
        changes at some thousand points per class, dense where the class is.
        """
        if self.dimensions != 1:
            raise DataError(
                f"regions is for one input, but there are {self.dimensions}: "
                "draw those of two with verulam.plots.decision_regions."
            )
        return cut_line(partial(self._best, self.losses(loss, reject_cost)), self.densities)

    def outcome_of(self, rule: Any = None) -> Outcome:
        """Return how often each decision of a rule meets each class, by quadrature.

        The rule is None (least error), a threshold (the second class from there on), a
        `Partition`, a function from inputs to labels, or a fitted classifier. One or two inputs.
        """
        rule = self._as_rule(rule)
        codes = LabelCodes(self.classes)
        if self.dimensions > 2:
            raise DataError(
                f"Quadrature is for one or two inputs, but there are {self.dimensions}: "
                "use simulated_error."
            )
        if self.dimensions == 2:
            boxes = np.stack([density.box for density in self.densities])
            box = np.stack([boxes[..., 0].min(axis=0), boxes[..., 1].max(axis=0)], axis=1)
            masses = plane_masses(
                box, lambda x: np.exp(self.log_joint(x)), lambda x: codes(rule(x)), self.priors
            )
        else:
            regions = rule if isinstance(rule, Partition) else cut_line(rule, self.densities)
            masses = line_masses(regions, codes(regions.labels), self.densities) * self.priors
        return codes.outcome(masses, self.classes)

    def error_of(self, rule: Any) -> float:
        """Return the probability that a rule decides for a wrong class; see `outcome_of`."""
        return self.outcome_of(rule).error

    def bayes_error(self) -> float:
        """Return the least error that any rule can have, by quadrature (one or two inputs)."""
        return self.outcome_of().error

    def bayes_risk(
        self, loss: LossTable | Loss | None = None, *, reject_cost: float | PerClass | None = None
    ) -> float:
        """Return the least expected loss that any rule can have (one or two inputs)."""
        table = self.losses(loss, reject_cost)
        return self.outcome_of(partial(self._best, table)).risk(table)

    def simulated_error(
        self, rule: Any = None, *, size: int = 100_000, random_state: Seed = None
    ) -> Estimate:
        """Return the error of a rule from draws of any number of inputs; see `outcome_of`.

        The posterior at each draw, not the drawn class, says how likely the rule is to err
        there, which makes the standard error smaller.
        """
        x = self.sample(size, random_state=random_state)[0]
        codes = LabelCodes(self.classes)(self._as_rule(rule)(x))
        decided = codes < len(self.classes)
        # Rejected rows have no class of their own; any code will do, for they cannot err.
        decisions = np.where(decided, codes, 0)[:, np.newaxis]
        right = np.take_along_axis(self.posterior(x), decisions, axis=1)[:, 0]
        errors = np.where(decided, 1.0 - right, 0.0)
        return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(size)), size)

    def sample(self, size: int, *, random_state: Seed = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return drawn inputs and their classes, in random order."""
        if not isinstance(size, int) or size < 2:
            raise DataError(f"size must be a whole number of draws, two or more, but got {size!r}.")
        rng = generator(random_state)
        codes = rng.choice(len(self.classes), size=size, p=self.priors)
        x = np.empty(size if self.dimensions == 1 else (size, self.dimensions))
        for code, density in enumerate(self.densities):
            if density.sample is None:
                raise DataError(
                    f"The density of class {self.classes[code]!r} cannot be sampled: give a "
                    "scipy.stats distribution, or a ClassDensity with `sample`."
                )
            rows = codes == code
            x[rows] = density.sample(int(rows.sum()), rng)
        return x, self.classes[codes]

    def bulk(self, coverage: float = 0.998) -> tuple[float, float]:
        """Return an interval of one input that covers so much of every class."""
        points = bulk_points(self.densities)
        tails = np.column_stack([density.upper_tail(points) for density in self.densities])
        # Half of what is left out at either end.
        tail = (1 - coverage) / 2
        inside = points[((tails > tail) & (tails < 1 - tail)).any(axis=1)]
        return float(inside[0]), float(inside[-1])

    def roc(self, positive: Any = None) -> RocCurve:
        """Return hits against false alarms when values from a threshold on are called positive.

        Two classes and one input; the second class is positive unless one is named. The priors
        are kept in the record, so that `verulam.measures.iso_cost` of it gives the best threshold.
        """
        if len(self.classes) != 2 or self.dimensions != 1:
            raise DataError(
                "A ROC curve of densities needs two classes and one input, but there are "
                f"{len(self.classes)} classes and {self.dimensions} inputs."
            )
        place = 1 if positive is None else self._position(positive)
        thresholds = bulk_points(self.densities)[::-1]
        tails = [density.upper_tail(thresholds) for density in self.densities]
        return RocCurve(
            np.concatenate([[0.0], tails[1 - place], [1.0]]),
            np.concatenate([[0.0], tails[place], [1.0]]),
            np.concatenate([[np.inf], thresholds, [-np.inf]]),
            float(self.priors[place]),
            float(self.priors[1 - place]),
        )

    def _position(self, label: Any) -> int:
        positions = np.flatnonzero(self.classes == label)
        if len(positions) == 0:
            raise DataError(f"{label!r} is not one of the classes {self.classes.tolist()}.")
        return int(positions[0])

    def _best(self, table: LossTable, x: Vector) -> NDArray[Any]:
        """Return the decision of least risk, and None where the evidence is zero."""
        joint = self.log_joint(x)
        # Between two supports no class can have produced the value: there is nothing to decide.
        possible = np.isfinite(joint).any(axis=-1)
        answers = np.full(possible.shape, None, dtype=object)
        answers[possible] = table.actions[table.best(normalise(joint[possible]))]
        return answers

    def _as_rule(self, rule: Any) -> Rule:
        if rule is None:
            return partial(self._best, self.losses())
        if isinstance(rule, Real):
            if len(self.classes) != 2 or self.dimensions != 1:
                raise DataError("A threshold is a rule for two classes and one input only.")
            return Partition([float(rule)], self.classes)
        if hasattr(rule, "predict"):
            return lambda x: rule.predict(np.asarray(x).reshape(-1, self.dimensions))
        if isinstance(rule, Partition):
            if self.dimensions != 1:
                raise DataError(f"A Partition is a rule for one input, not {self.dimensions}.")
            return rule
        if callable(rule):
            return lambda x: np.asarray(rule(x))
        raise DataError(
            "rule must be None, a threshold, a Partition, a function of the inputs or a fitted "
            f"classifier, but got {rule!r}."
        )
