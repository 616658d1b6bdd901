"""Reductions as preparations: other columns, found in the training rows of each run."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.catalogue import entry

#: Share of the variance that principal components keep where no number is said.
VARIANCE = 0.95


class Method(NamedTuple):
    """A learner that makes other columns of scaled ones.

    Attributes
    ----------
    learner
        Its name in the catalogue.
    words
        What the columns are, with a place for their number.
    parameter
        What the number behind the name sets: columns or units, or the side of a square grid.
    of_classes
        Whether there must be classes.
    """

    learner: str
    words: str
    parameter: str = "n_components"
    of_classes: bool = False


#: Every reduction by its name in a study.
REDUCTIONS = {
    "principal components": Method("reduction.PrincipalComponents", "{}principal components"),
    "factor analysis": Method("reduction.FactorAnalysis", "scores of {}factors"),
    "discriminants": Method(
        "reduction.DiscriminantProjection",
        "{}projections that tell the classes apart",
        of_classes=True,
    ),
    "feature selection": Method(
        "reduction.SubsetSelector",
        "{}columns that a forward search chose",
        "n_features_to_select",
    ),
    "self-organising map": Method(
        "local.SelfOrganisingMap", "places on a {}self-organising map", "grid_shape"
    ),
    "generative topographic map": Method(
        "local.GenerativeTopographicMap", "places on a {}generative topographic map", "grid_shape"
    ),
    "neuroscale": Method("local.NeuroScale", "places in {}columns of neuroscale"),
    "Hebbian components": Method("local.HebbianComponents", "{}components by Oja's rule"),
    "Hebbian discriminants": Method(
        "local.HebbianDiscriminants",
        "{}projections that tell the classes apart, by Oja's rule",
        of_classes=True,
    ),
    "radial units": Method("local.RBFFeatures", "activations of {}radial units", "n_units"),
    "binary factors": Method("bayes.BinaryFactors", "probabilities of {}binary factors"),
}
_FORM = re.compile(rf"(?P<name>{'|'.join(REDUCTIONS)})(?: (?P<count>[1-9]\d*))?")


@dataclass(frozen=True)
class Reduction:
    """A way to make other columns of many, mostly fewer.

    Attributes
    ----------
    name
        One of `REDUCTIONS`.
    count
        How many columns or units, or units along each side of a map; None leaves it to the method.
    """

    name: str
    count: int | None = None

    @property
    def _method(self) -> Method:
        return REDUCTIONS[self.name]

    @property
    def words(self) -> str:
        """What is done, for the report."""
        number = "" if self.count is None else f"{self.count} "
        if number and self._method.parameter == "grid_shape":
            number = f"{self.count} by {self.count} "
        words = self._method.words.format(number)
        by_share = self.count is None and self.name == "principal components"
        return f"{words} ({100 * VARIANCE:.0f} % of the variance)" if by_share else words

    def transformer(self, estimator: Any) -> Any:
        """Return what makes the columns for a learner.

        Parameters
        ----------
        estimator
            The learner behind it, whose task says what columns are chosen for.
        """
        learner, parameter = entry(self._method.learner), self._method.parameter
        if self._method.of_classes and not is_classifier(estimator):
            raise DataError(f"preparations: {self.name!r} tell classes apart, and there are none.")
        if self.name == "feature selection":
            return learner.make(estimator=self._judge(estimator), n_features_to_select=self.count)
        if self.count is not None:
            side = (self.count, self.count)
            return learner.make(**{parameter: side if parameter == "grid_shape" else self.count})
        return learner.make(
            **({"n_components": VARIANCE} if self.name == "principal components" else {})
        )

    def _judge(self, estimator: Any) -> Any:
        """Return the learner that says how good columns are."""
        # Quick learners choose for all others: one search for each learner would take hours.
        if is_classifier(estimator):
            return GaussianNB()
        if is_regressor(estimator):
            return LinearRegression()
        raise DataError(
            "preparations: 'feature selection' asks which columns predict a target, and there "
            "is none."
        )


def read_reduction(how: str) -> Reduction | None:
    """Return the reduction that a preparation stands for; None where it is no reduction.

    Parameters
    ----------
    how
        Such as "principal components", "principal components 5" or "feature selection".

    Examples
    --------
    >>> read_reduction("factor analysis 3")
    Reduction(name='factor analysis', count=3)
    >>> read_reduction("ranks") is None
    True
    """
    match = _FORM.fullmatch(str(how))
    if match is None:
        return None
    return Reduction(match["name"], None if match["count"] is None else int(match["count"]))
