"""What a learner can do, read off its class: tests, engine, docs and command line use this."""

from dataclasses import dataclass, fields
from typing import Any

from sklearn.utils import get_tags

from verulam.base._protocol import has_fit_parameter

#: scikit-learn's word for an estimator's kind, and ours.
_TASKS = {
    "classifier": "classification",
    "regressor": "regression",
    "density_estimator": "density",
    "clusterer": "clustering",
    "outlier_detector": "outliers",
    "transformer": "transformation",
}


@dataclass(frozen=True)
class Abilities:
    """The tags of one learner.

    Attributes
    ----------
    task
        classification, regression, density, clustering, outliers or transformation.
    probabilistic
        Gives class probabilities, or a density.
    incremental
        Can be taught further with `partial_fit`.
    additive
        A training pass is a sum over the data: streams and Dask collections are accepted.
    sample_weights
        `fit` takes a weight per row.
    categorical
        Columns of pandas dtype ``category`` are used as categories.
    missing
        Missing values are accepted.
    sequences
        Learns from sequences instead of rows.
    sparse
        Sparse matrices are accepted.
    """

    task: str
    probabilistic: bool = False
    incremental: bool = False
    additive: bool = False
    sample_weights: bool = False
    categorical: bool = False
    missing: bool = False
    sequences: bool = False
    sparse: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of the abilities that are present."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is True)

    @staticmethod
    def names() -> tuple[str, ...]:
        """Every tag there is."""
        return tuple(field.name for field in fields(Abilities) if field.name != "task")


def abilities(learner: Any) -> Abilities:
    """Return the abilities of a learner, ours or scikit-learn's.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> abilities(GaussianNB()).tags
    ('probabilistic', 'incremental', 'sample_weights')
    """
    tags = get_tags(learner)
    kind = tags.estimator_type
    if kind is None and tags.transformer_tags is not None:
        kind = "transformer"
    if kind is None and hasattr(learner, "score_samples"):
        kind = "density_estimator"
    return Abilities(
        task=_TASKS.get(kind or "", "other"),
        probabilistic=hasattr(learner, "predict_proba") or hasattr(learner, "score_samples"),
        incremental=hasattr(learner, "partial_fit"),
        additive=hasattr(learner, "_statistics"),
        sample_weights=has_fit_parameter(learner, "sample_weight"),
        categorical=tags.input_tags.categorical,
        missing=tags.input_tags.allow_nan,
        sequences=getattr(learner, "_takes_sequences", False),
        sparse=tags.input_tags.sparse,
    )
