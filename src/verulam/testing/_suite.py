"""The estimator checks: protocol, abilities and scale, selected by what a learner claims."""

import inspect
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_checks

from verulam.base import DataWarning, abilities, clone
from verulam.testing._documentation import (
    check_doctest,
    check_documented_attributes,
    check_documented_parameters,
)
from verulam.testing._samples import Sample, fitted, sample_for

_OUTPUTS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")
#: Parts that rows come in where learning in parts is compared with learning at once.
N_CHUNKS = 4
#: Packages whose types a model file may name.
_TRUSTED = ("verulam.", "numpy.", "scipy.", "sklearn.", "builtins.", "collections.")


@dataclass(frozen=True)
class Check:
    """One check of one learner.

    Attributes
    ----------
    name
        What is checked.
    function
        Takes the learner and raises where the check fails.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from verulam.testing import learner_checks
    >>> [check.name for check in learner_checks(GaussianNB())][:3]
    ['scikit_learn', 'constructor', 'same_seed']
    """

    name: str
    function: Callable[[Any], None]

    def __call__(self, learner: Any) -> None:
        """Run the check."""
        self.function(learner)


def learner_checks(learner: Any) -> list[Check]:
    """Return the checks that apply to a learner, by its abilities.

    Parameters
    ----------
    learner
        An unfitted instance.
    """
    able = abilities(learner)
    seeded = "random_state" in learner.get_params()
    functions = [
        check_scikit_learn,
        check_constructor,
        check_same_seed,
        check_pickling,
        check_model_file,
        check_documented_parameters,
        check_documented_attributes,
        check_doctest,
    ]
    # Where chance enters, repeated rows meet other random numbers than weighted ones.
    if able.sample_weights and not seeded:
        functions.append(check_weights_repeat_rows)
    if able.missing:
        functions.append(check_missing_values)
    if able.categorical:
        functions.append(check_categories)
    if able.additive:
        functions += [check_stream, check_dask]
    if able.additive and able.incremental:
        functions.append(check_two_halves)
    return [Check(function.__name__.removeprefix("check_"), function) for function in functions]


def check_learner(learner: Any) -> None:
    """Raise at the first thing that a learner of this library should do and does not.

    Parameters
    ----------
    learner
        An unfitted instance, ours or anybody's.

    Notes
    -----
    A class may name checks of scikit-learn that cannot apply to it in ``_skipped_checks``, a
    dictionary of check to reason; a named check that passes is an error, so that reasons stay
    true, unless ``_passes_by_chance`` names it. ``_example_data``, a classmethod, gives inputs and
    targets where the learner needs special ones. Where ``_takes_one_column`` is true, the tables of
    scikit-learn's checks are cut to their first column.

    Examples
    --------
    >>> from verulam.parametric import NaiveBayes
    >>> check_learner(NaiveBayes())
    """
    for check in learner_checks(learner):
        try:
            check(learner)
        except Exception as error:
            error.add_note(f"Check {check.name!r} of {type(learner).__name__}.")
            raise


def check_scikit_learn(learner: Any) -> None:
    """Check that scikit-learn's checks pass, but for those the class lists with a reason."""
    skipped = dict(getattr(learner, "_skipped_checks", {}))
    by_chance: frozenset[str] = getattr(learner, "_passes_by_chance", frozenset())
    one_column = bool(getattr(learner, "_takes_one_column", False))
    with warnings.catch_warnings(), _tables_of_one_column() if one_column else nullcontext():
        # Their data is odd on purpose: one row, equal columns, hardly any iterations.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        results = estimator_checks.check_estimator(
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


@contextmanager
def _tables_of_one_column() -> Iterator[None]:
    """Let the checks of scikit-learn make tables of one column, which no tag can ask for."""
    fitting = estimator_checks._enforce_estimator_tags_X

    def first_column(estimator: Any, X: Any, **options: Any) -> Any:
        table = fitting(estimator, X, **options)
        return table[:, :1] if np.ndim(table) == 2 else table

    with patch.object(estimator_checks, "_enforce_estimator_tags_X", first_column):
        yield


def check_constructor(learner: Any) -> None:
    """Check that the constructor stores its arguments untouched and does nothing else."""
    names = list(inspect.signature(type(learner)).parameters)
    arguments = {name: object() for name in names}
    made = type(learner)(**arguments)
    for name in names:
        assert getattr(made, name) is arguments[name], f"the constructor changed {name!r}"
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


def check_weights_repeat_rows(learner: Any) -> None:
    """Check that a whole-number weight is the same as repeating the row."""
    sample = sample_for(learner)
    weights = np.random.default_rng(1).integers(0, 4, size=len(sample.inputs))
    weighted = fitted(clone(learner), sample, sample_weight=weights.astype(np.float64))
    repeated = fitted(clone(learner), sample.rows(np.repeat(np.arange(len(weights)), weights)))
    # Iterative solvers stop within their own tolerance of one another.
    tolerance = 1e-8 if abilities(learner).additive else 1e-3
    assert_same_outputs(weighted, repeated, sample.inputs, tolerance=tolerance)


def check_missing_values(learner: Any) -> None:
    """Check that missing numbers are accepted by `fit` and by what follows it."""
    _answers(learner, _with_gaps(sample_for(learner)))


def check_categories(learner: Any) -> None:
    """Check that columns of dtype ``category`` are accepted, with gaps where missing values are."""
    sample = sample_for(learner)
    frame = pd.DataFrame(np.asarray(sample.inputs), columns=["first", "second", "third"])
    frame["third"] = pd.cut(frame["third"], 3, labels=["low", "middle", "high"])
    _answers(learner, Sample(frame, sample.targets))
    if abilities(learner).missing:
        _answers(learner, _with_gaps(Sample(frame, sample.targets)))


def _with_gaps(sample: Sample) -> Sample:
    if getattr(sample.inputs, "dtype", None) == np.dtype(object):  # sequences, each with gaps
        gapped = sample.inputs.copy()
        for place, sequence in enumerate(sample.inputs):
            gapped[place] = np.where(
                np.indices(sequence.shape).sum(axis=0) % 7 == 0, np.nan, sequence
            )
        return Sample(gapped, sample.targets)
    frame = pd.DataFrame(sample.inputs).copy()
    for place, name in enumerate(frame.columns):
        frame.loc[frame.index[place::7], name] = None
    as_given = frame if isinstance(sample.inputs, pd.DataFrame) else frame.to_numpy()
    return Sample(as_given, sample.targets)


def _answers(learner: Any, sample: Sample) -> None:
    """Raise unless the learner gives one usable answer per row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # it may say which rows it leaves out
        ready = fitted(clone(learner), sample)
    for method in ("predict", "predict_proba", "score_samples", "transform"):
        if hasattr(ready, method):
            answers = np.asarray(getattr(ready, method)(sample.inputs))
            assert len(answers) == len(sample.inputs), f"{method}: wrong number of rows"
            assert not pd.isna(answers).any(), f"{method}: missing answers"


def check_stream(learner: Any) -> None:
    """Check that a stream of chunks gives the same learner as memory."""
    sample = sample_for(learner)
    pieces = [
        sample.rows(piece) for piece in np.array_split(np.arange(len(sample.inputs)), N_CHUNKS)
    ]
    chunks = [piece.inputs if piece.targets is None else piece.arguments for piece in pieces]
    streamed = fitted(clone(learner), Sample(lambda: iter(chunks)))
    _assert_same(learner, streamed, sample)


def check_dask(learner: Any) -> None:
    """Check that Dask arrays give the same learner as memory."""
    import dask
    import dask.array

    sample = sample_for(learner)
    rows = -(-len(sample.inputs) // N_CHUNKS)
    lazy = [
        dask.array.from_array(part, chunks=(rows, *part.shape[1:])) for part in sample.arguments
    ]
    with dask.config.set(scheduler="threads"):
        summed = fitted(clone(learner), Sample(*lazy))
    _assert_same(learner, summed, sample)


def check_two_halves(learner: Any) -> None:
    """Check that `partial_fit` on two halves gives the same learner as `fit` on both."""
    sample = sample_for(learner)
    half = len(sample.inputs) // 2
    taught = clone(learner)
    for part in (slice(half), slice(half, None)):
        taught.partial_fit(*sample.rows(part).arguments)
    _assert_same(learner, taught, sample)


def _assert_same(learner: Any, other: Any, sample: Sample) -> None:
    ready = fitted(clone(learner), sample)
    assert_same_attributes(ready, other)
    assert_same_outputs(ready, other, sample.inputs)


def assert_same_outputs(first: Any, second: Any, inputs: Any, *, tolerance: float = 1e-8) -> None:
    """Raise unless both learners say the same about the inputs."""
    for method in _OUTPUTS:
        if hasattr(first, method):
            outputs = (getattr(learner, method)(inputs) for learner in (first, second))
            assert_same_values(*outputs, where=f"{method}()", tolerance=tolerance)


def assert_same_attributes(first: Any, second: Any, *, tolerance: float = 1e-8) -> None:
    """Raise unless both learners have the same fitted attributes with the same values."""
    names, others = fitted_names(first), fitted_names(second)
    assert names == others, f"fitted attributes differ: {names} and {others}"
    for name in names:
        values = getattr(first, name), getattr(second, name)
        assert_same_values(*values, where=name, tolerance=tolerance)


def fitted_names(learner: Any) -> list[str]:
    """Return the names of the fitted attributes, but for the sums that they were computed from.

    Sums may be kept in a form that is not unique, such as a triangular factor.
    """
    return sorted(
        name
        for name in vars(learner)
        if name.endswith("_") and not name.startswith("_") and name != "statistics_"
    )


def assert_same_values(first: Any, second: Any, *, where: str, tolerance: float) -> None:
    """Raise unless two values agree: numbers to the tolerance, all else exactly."""
    assert type(first) is type(second), f"{where}: {type(first)} and {type(second)}"
    if is_dataclass(first) and not isinstance(first, type):
        for field in fields(first):
            pair = getattr(first, field.name), getattr(second, field.name)
            assert_same_values(*pair, where=f"{where}.{field.name}", tolerance=tolerance)
    elif isinstance(first, tuple | list):
        assert len(first) == len(second), f"{where}: lengths {len(first)} and {len(second)}"
        for place, pair in enumerate(zip(first, second, strict=True)):
            assert_same_values(*pair, where=f"{where}[{place}]", tolerance=tolerance)
    elif isinstance(first, pd.DataFrame | pd.Series):
        assert_same_values(first.to_numpy(), second.to_numpy(), where=where, tolerance=tolerance)
    elif hasattr(first, "get_params"):
        assert_same_attributes(first, second, tolerance=tolerance)
    elif isinstance(first, float | np.floating) or _is_float_array(first):
        # Relative to the largest number: a sum that cancels to zero is zero to rounding only.
        scale = float(np.max(np.abs(first), initial=0.0, where=np.isfinite(first)))
        assert_allclose(
            second, first, rtol=tolerance, atol=tolerance * max(scale, 1e-300), err_msg=where
        )
    elif isinstance(first, np.ndarray | int | str | bool | np.generic):
        assert_array_equal(first, second, err_msg=where)


def _is_float_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
