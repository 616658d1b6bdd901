"""Whether two fitted learners are the same: attributes, records within them, and outputs."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

_OUTPUTS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")


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
