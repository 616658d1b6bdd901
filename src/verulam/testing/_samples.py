"""Small data sets that suit a learner, chosen by its abilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from verulam.base import abilities

#: Enough to learn from, few enough for thousands of checks.
N_ROWS = 60


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn from.

    Attributes
    ----------
    inputs : ndarray or DataFrame
        The inputs.
    targets : ndarray or None
        Labels, numbers, or None where the learner takes none.
    """

    inputs: Any
    targets: np.ndarray | None = None

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What `fit` is called with."""
        return (self.inputs,) if self.targets is None else (self.inputs, self.targets)

    def rows(self, index: Any) -> "Sample":
        """Return some of the rows, by slice or row numbers."""
        inputs = self.inputs.iloc[index] if hasattr(self.inputs, "iloc") else self.inputs[index]
        return Sample(inputs, None if self.targets is None else self.targets[index])


def sample_for(learner: Any) -> Sample:
    """Return rows that the learner can learn from.

    A class whose inputs are special gives its own by a classmethod ``_example_data``, which
    returns inputs and targets (or None).
    """
    example_data = getattr(type(learner), "_example_data", None)
    if example_data is not None:
        return Sample(*example_data())
    generator = np.random.default_rng(0)
    tags = get_tags(learner)
    n_classes = 3 if tags.classifier_tags is None or tags.classifier_tags.multi_class else 2
    labels = np.arange(N_ROWS) % n_classes
    centres = np.array([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    inputs = centres[labels] + generator.normal(size=(N_ROWS, 3))
    if tags.input_tags.positive_only:
        inputs = np.abs(inputs)
    task = abilities(learner).task
    if task == "classification":
        return Sample(inputs, np.array(["a", "b", "c"])[labels])
    if task == "regression":
        return Sample(inputs, inputs @ [1.0, -2.0, 0.5] + generator.normal(size=N_ROWS))
    return Sample(inputs, labels if tags.target_tags.required else None)


def fitted(learner: Any, sample: Sample, **options: Any) -> Any:
    """Return the learner after `fit` on the sample, its seed fixed where it has one."""
    if "random_state" in learner.get_params(deep=False):
        learner.set_params(random_state=0)
    return learner.fit(*sample.arguments, **options)
