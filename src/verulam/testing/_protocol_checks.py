"""scikit-learn's own checks, and the ways of ours that go beyond them."""

import inspect
import pickle
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from verulam.base import DataWarning, clone
from verulam.testing._agreement import assert_same_attributes, assert_same_outputs
from verulam.testing._samples import fitted, sample_for

#: Packages whose types a model file may name.
_TRUSTED = ("verulam.", "numpy.", "scipy.", "sklearn.", "builtins.", "collections.")


def check_scikit_learn(learner: Any) -> None:
    """Check that scikit-learn's checks pass, but for those the class lists with a reason."""
    skipped = dict(getattr(learner, "_skipped_checks", {}))
    by_chance: frozenset[str] = getattr(learner, "_passes_by_chance", frozenset())
    with warnings.catch_warnings():
        # Their data is odd on purpose: one row, equal columns, hardly any iterations.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        results = check_estimator(
            learner, expected_failed_checks=skipped, on_skip=None, on_fail=None
        )
    failed = [result for result in results if result["status"] == "failed"]
    assert not failed, "\n".join(
        f"{result['check_name']}: {type(result['exception']).__name__}: {result['exception']}"
        for result in failed
    )
    seen: dict[str, set[str]] = {}
    for result in results:
        seen.setdefault(result["check_name"], set()).add(result["status"])
    for name in skipped:
        assert name in seen, f"_skipped_checks names {name!r}, which is no check of this learner"
        if name not in by_chance:
            assert "passed" not in seen[name], f"{name} passes: take it out of _skipped_checks"


def check_constructor(learner: Any) -> None:
    """Check that the constructor stores its arguments untouched and does nothing else."""
    names = list(inspect.signature(type(learner)).parameters)
    given = {name: object() for name in names}
    made = type(learner)(**given)
    for name in names:
        assert getattr(made, name) is given[name], f"the constructor changed {name!r}"
    surplus = sorted(set(vars(made)) - set(names))
    assert not surplus, f"the constructor also set {', '.join(surplus)}"


def check_same_seed(learner: Any) -> None:
    """Check that two fits with the same seed give the same learner."""
    sample = sample_for(learner)
    first, second = (fitted(clone(learner), sample) for _ in range(2))
    assert_same_attributes(first, second, tolerance=0.0)
    assert_same_outputs(first, second, sample.inputs, tolerance=0.0)


def check_pickling(learner: Any) -> None:
    """Check that a pickled and restored learner is the same."""
    sample = sample_for(learner)
    ready = fitted(clone(learner), sample)
    restored = pickle.loads(pickle.dumps(ready))  # noqa: S301 - our own bytes
    assert_same_attributes(ready, restored, tolerance=0.0)
    assert_same_outputs(ready, restored, sample.inputs, tolerance=0.0)


def check_model_file(learner: Any) -> None:
    """Check that a learner written by skops reads back the same and names no foreign types."""
    import skops.io

    sample = sample_for(learner)
    ready = fitted(clone(learner), sample)
    written = skops.io.dumps(ready)
    types = skops.io.get_untrusted_types(data=written)
    foreign = [name for name in types if not name.startswith(_TRUSTED)]
    assert not foreign, f"the model file names foreign types: {', '.join(foreign)}"
    restored = skops.io.loads(written, trusted=types)
    assert_same_outputs(ready, restored, sample.inputs, tolerance=0.0)
