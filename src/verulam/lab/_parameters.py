"""Parameters of learners as fields of a form, read off their declared constraints."""

import inspect
import math
import re
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import Any, Literal

from verulam.base import DataError, Interval, Options, StrOptions
from verulam.catalogue import Entry, entry
from verulam.catalogue._entries import listed_learners
from verulam.kernel import KERNELS, Gaussian
from verulam.lab._state import LearnerSetting, Scalar

#: Ranges worth moving through, for parameters whose constraints leave an end open; a ratio in the
#: third place says that steps are equal ratios. These parameters are shown first.
RANGES: dict[str, tuple[float, float, bool]] = {
    "C": (0.01, 1000.0, True),
    "alpha": (1e-6, 10.0, True),
    "bandwidth": (0.02, 5.0, True),
    "degree": (1, 12, False),
    "epsilon": (0.0, 1.0, False),
    "grid_shape": (2, 15, False),
    "hidden_layer_sizes": (1, 60, False),
    "kernel__width": (0.05, 10.0, True),
    "learning_rate": (0.001, 1.0, True),
    "max_depth": (1, 12, False),
    "max_leaf_nodes": (2, 40, False),
    "min_samples_leaf": (1, 40, False),
    "n_clusters": (1, 12, False),
    "n_components": (1, 12, False),
    "n_estimators": (1, 100, False),
    "n_neighbors": (1, 60, False),
    "n_prototypes": (1, 20, False),
    "n_units": (1, 60, False),
    "nu": (0.01, 1.0, False),
    "span": (0.05, 1.0, False),
}
#: Words that are shown first, too.
MAIN_WORDS = ("covariance_type", "kernel", "criterion", "activation", "lattice", "init", "metric")
#: Not for a form: chance has its own field, and the others bound effort, not what is learned.
HIDDEN = frozenset(
    {"random_state", "cache_size", "tol", "n_jobs", "verbose", "validation_fraction", "copy"}
)
#: Kernels of two columns that need nothing but a name.
PLAIN_KERNELS = ("rbf", "linear", "polynomial", "sigmoid", "laplacian", "exponential")
#: Learners that two columns of numbers are no data for, or that need parts of their own.
NOT_ON_THE_PLANE = frozenset(
    {
        "nonparametric.HammingDensity",
        "parametric.BernoulliDensity",
        "parametric.MultinomialDensity",
        "neural.ConvolutionalClassifier",
        "linear.Scorecard",
        "linear.Madaline",
    }
)


@dataclass(frozen=True)
class ParameterField:
    """One field of a form.

    Attributes
    ----------
    name
        Of the parameter.
    kind
        "integer", "number", "word" or "switch".
    default
        What the learner takes where nothing is set.
    low, high
        Ends of the range of a slider.
    ratio
        Whether steps of the slider are equal ratios.
    words
        Words that are accepted, beside numbers where the kind is a number.
    optional
        Whether None is accepted.
    main
        Whether it is shown at once.
    meaning
        What the documentation says about it.
    """

    name: str
    kind: Literal["integer", "number", "word", "switch"]
    default: Any = None
    low: float = 0.0
    high: float = 1.0
    ratio: bool = False
    words: tuple[str, ...] = ()
    optional: bool = False
    main: bool = False
    meaning: str = ""

    def check(self, value: Scalar) -> Scalar:
        """Return a value that the field accepts, or refuse it."""
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in self.words:
            return value
        if self.kind == "switch" and isinstance(value, bool):
            return value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.kind == "integer" and number and float(value) == round(value):  # type: ignore[arg-type]
            return round(value)  # type: ignore[arg-type]
        if self.kind == "number" and number and math.isfinite(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
        accepted = ", ".join(self.words) if self.words else f"a value of kind {self.kind}"
        raise DataError(f"{self.name} must be {accepted}, not {value!r}.")


@cache
def plane_learners(task: str) -> tuple[str, ...]:
    """Return the learners of a task that two columns of numbers can be given to.

    Parameters
    ----------
    task
        Such as "classification".
    """
    return tuple(
        row.name
        for row in listed_learners(task, ())
        if "sequences" not in row.tags and row.name not in NOT_ON_THE_PLANE
    )


@cache
def parameter_fields(name: str) -> tuple[ParameterField, ...]:
    """Return the fields of a learner's form, those that matter most first.

    Parameters
    ----------
    name
        Of the learner, as in the catalogue.

    Examples
    --------
    >>> field = parameter_fields("nonparametric.KNeighborsClassifier")[0]
    >>> field.name, field.kind, field.default, field.low, field.high
    ('n_neighbors', 'integer', 5, 1, 60)
    """
    item = entry(name)
    learner_class = item.learner_class
    constraints = getattr(learner_class, "_parameter_constraints", {})
    meanings = documented_parameters(learner_class)
    fields = []
    for parameter, signature in inspect.signature(learner_class).parameters.items():
        rules = constraints.get(parameter)
        if parameter in HIDDEN or not isinstance(rules, list):
            continue
        default = item.parameters.get(parameter, signature.default)
        meaning = meanings.get(parameter, "")
        if parameter == "kernel" and item.path.startswith("verulam.kernel."):
            fields += kernel_fields(default, meaning)
        elif (made := field_of(parameter, rules, default, meaning)) is not None:
            fields.append(made)
    return tuple(sorted(fields, key=lambda item: not item.main))


def kernel_fields(default: Any, meaning: str) -> list[ParameterField]:
    """Return the fields for the kernel of a machine and the width of a Gaussian one."""
    low, high, ratio = RANGES["kernel__width"]
    return [
        ParameterField("kernel", "word", default, words=PLAIN_KERNELS, main=True, meaning=meaning),
        ParameterField(
            "kernel__width",
            "number",
            "scale",
            low,
            high,
            ratio,
            words=("scale",),
            main=True,
            meaning="Standard deviation of the Gaussian kernel; scale takes it from the data.",
        ),
    ]


def field_of(name: str, rules: list[Any], default: Any, meaning: str) -> ParameterField | None:
    """Return the field that constraints ask for; None where only code can say a value."""
    intervals = [rule for rule in rules if isinstance(rule, Interval)]
    words = sorted(
        word
        for rule in rules
        if isinstance(rule, StrOptions | Options)
        for word in rule.options
        if isinstance(word, str) and not word.startswith("precomputed")
    )
    if isinstance(default, tuple | list) and len(set(default)) == 1 and intervals:
        default = default[0]
    if default is inspect.Parameter.empty:
        default = None
    optional = any(rule is None for rule in rules)
    if intervals:
        interval = next((rule for rule in intervals if rule.type is Integral), intervals[0])
        if isinstance(default, float):
            interval = next((rule for rule in intervals if rule.type is not Integral), interval)
        low, high, ratio = _range(name, interval, default)
        kind: Literal["integer", "number"] = "integer" if interval.type is Integral else "number"
        main = name in RANGES
        return ParameterField(
            name, kind, default, low, high, ratio, tuple(words), optional, main, meaning
        )
    if "boolean" in rules:
        return ParameterField(name, "switch", default, meaning=meaning)
    if words and (default is None or isinstance(default, str)):
        main = name in MAIN_WORDS
        return ParameterField(
            name, "word", default, words=tuple(words), optional=optional, main=main, meaning=meaning
        )
    return None


def _range(name: str, interval: Interval, default: Any) -> tuple[float, float, bool]:
    """Return the ends of a slider inside of what the constraint allows."""
    whole = interval.type is Integral
    least = -math.inf if interval.left is None else interval.left
    most = math.inf if interval.right is None else interval.right
    number = default if isinstance(default, int | float) else 1
    low, high, ratio = RANGES.get(name, (0.0, max(10.0, 4.0 * abs(number)), False))
    step = 1 if whole else 1e-3 * (high - low)
    if interval.closed in ("right", "neither"):
        least += step if not ratio else low / 10.0
    if interval.closed in ("left", "neither"):
        most -= step
    low, high = max(low, least), min(max(high, number), most)
    if math.isfinite(most) and math.isfinite(least) and name not in RANGES:
        low, high = least, most
    return (round(low), round(high), False) if whole else (float(low), float(high), ratio)


def documented_parameters(learner_class: type[Any]) -> dict[str, str]:
    """Return what the documentation of a class says about each parameter, on one line."""
    text = inspect.getdoc(learner_class) or ""
    _, _, rest = text.partition("Parameters\n----------\n")
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in rest.splitlines():
        if re.match(r"-{3,}", line):
            break
        if line and not line[0].isspace():
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        elif line.strip():
            for name in names:
                meanings[name] = f"{meanings.get(name, '')} {line.strip()}".strip()
    return meanings


def check_setting(setting: LearnerSetting, task: str) -> LearnerSetting:
    """Return a setting whose learner has the task and whose values the form accepts.

    Parameters
    ----------
    setting
        From a link, or from a page.
    task
        What the learner must be for.
    """
    if setting.name not in plane_learners(task):
        raise DataError(f"{setting.name!r} is no learner of the plane for {task}.")
    fields = {item.name: item for item in parameter_fields(setting.name)}
    values = {}
    for name, value in setting.parameters.items():
        if name not in fields:
            raise DataError(f"{setting.name} has no field {name!r}: it has {', '.join(fields)}.")
        values[name] = fields[name].check(value)
    return LearnerSetting(setting.name, values)


def arguments_of(setting: LearnerSetting, seed: int) -> dict[str, Any]:
    """Return the arguments that a setting stands for, with the seed where chance enters."""
    item = entry(setting.name)
    arguments: dict[str, Any] = dict(setting.parameters)
    width = arguments.pop("kernel__width", "scale")
    if width != "scale" and arguments.get("kernel", "rbf") in ("rbf", "gaussian"):
        arguments["kernel"] = Gaussian(width=width)
    if isinstance(arguments.get("grid_shape"), int):
        arguments["grid_shape"] = (arguments["grid_shape"],) * 2
    if "random_state" in inspect.signature(item.learner_class).parameters:
        arguments["random_state"] = seed
    return arguments


def make_learner(setting: LearnerSetting, seed: int) -> Any:
    """Return a new learner of a setting.

    Parameters
    ----------
    setting
        Name and parameters.
    seed
        Where chance enters.
    """
    item = entry(setting.name)
    arguments = arguments_of(setting, seed)
    if _needs_parts(item):
        learner = item.example()
        return learner.set_params(**{k: v for k, v in arguments.items() if v is not None})
    return item.make(**arguments)


def _needs_parts(item: Entry) -> bool:
    parameters = inspect.signature(item.learner_class).parameters
    return any(
        parameter.default is parameter.empty and name not in item.parameters
        for name, parameter in parameters.items()
    )


assert set(PLAIN_KERNELS) <= set(KERNELS)
