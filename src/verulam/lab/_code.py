"""The Python that gives what a page shows, to copy: built from the state alone."""

import inspect
from typing import Any

from verulam.catalogue import entry
from verulam.kernel import Kernel
from verulam.lab._parameters import _needs_parts, arguments_of
from verulam.lab._state import Generated, LearnerSetting, PlaneState, Points, ring

#: What the code of each generator is; the numbers are those of `generate`.
_SOURCES = {
    "Gaussians": (
        "gaussian_classes",
        "gaussian_classes({means}, {matrices}, n={n}, random_state={seed})",
    ),
    "spirals": ("two_spirals", "two_spirals({n}, noise={noise} / 4.0, random_state={seed})"),
    "XOR": ("xor", "xor({n}, noise={noise}, random_state={seed})"),
    "checkerboard": ("checkerboard", "checkerboard({n}, noise={noise} / 3.0, random_state={seed})"),
    "noisy sine": (
        "noisy_sine",
        "noisy_sine({n}, low=-3.0, high=3.0, frequency=1.5, noise={noise}, random_state={seed})",
    ),
}
_AXES = {"regression": "X, y = points[:, :1], points[:, 1]", "classification": "X = points"}


def plane_code(state: PlaneState) -> str:
    """Return a program that trains the learners of a state and prints their numbers.

    Parameters
    ----------
    state
        What the plane shows.

    Examples
    --------
    >>> from verulam.lab import PlaneState, plane_code
    >>> plane_code(PlaneState()).splitlines()[0]
    'import matplotlib.pyplot as plt'
    """
    imports = {"import numpy as np"}
    body = [*_data_lines(state, imports), ""]
    body += _setup_lines(state, imports)
    for place, setting in enumerate(state.learners):
        body += ["", *_learner_lines(state, setting, place, imports)]
    if state.task == "classification":
        imports.add("import matplotlib.pyplot as plt")
        body += ["", "plt.show()"]
    return "\n".join([*_sorted(imports), "", *body, ""])


def _sorted(imports: set[str]) -> list[str]:
    """Return import lines: plain ones, others' and ours."""
    ours = {line for line in imports if line.startswith("from verulam")}
    plain = {line for line in imports if line.startswith("import ")}
    return [*sorted(plain), *sorted(imports - ours - plain), *sorted(ours)]


def _data_lines(state: PlaneState, imports: set[str]) -> list[str]:
    data = state.data
    if isinstance(data, Points):
        return _point_lines(data, state.task)
    if data.name == "ring":
        body = inspect.getsource(ring).splitlines()
        call = f"points, codes = ring({data.n}, {data.noise}, {data.seed})"
        return [*body, "", "", call, "points = points.round(4)", *_label_lines(state.task)]
    function, call = _SOURCES[data.name]
    imports.add(f"from verulam.data import {function}")
    sample = call.format(
        n=data.n, noise=data.noise, seed=data.seed, means=_means(data), matrices=_matrices(data)
    )
    lines = [f"sample = {sample}"]
    if state.task == "regression" and data.name == "noisy sine":
        return [*lines, "points = sample.table.to_numpy().round(4)", _AXES["regression"]]
    if data.name == "noisy sine":
        return [*lines, "points = sample.table.to_numpy().round(4)", "X = points"]
    lines += ["points = sample.inputs.to_numpy().round(4)"]
    if state.task == "classification":
        lines += ['codes = sample.table["class"].astype("category").cat.codes.to_numpy()']
    return [*lines, *_label_lines(state.task)]


def _label_lines(task: str) -> list[str]:
    lines = [_AXES.get(task, "X = points")]
    return [*lines, 'y = np.array(list("ABCDE"))[codes]'] if task == "classification" else lines


def _means(data: Generated) -> str:
    return repr([list(mean) for mean in data.means])


def _matrices(data: Generated) -> str:
    return repr([[[a, b], [b, c]] for a, b, c in data.covariances])


def _point_lines(points: Points, task: str) -> list[str]:
    rows = ", ".join(
        f"[{x!r}, {y!r}]" for x, y in zip(points.horizontal, points.vertical, strict=True)
    )
    lines = [f"points = np.array([{rows}])"]
    if task == "classification":
        lines.append(f"codes = np.array({list(points.codes)!r})")
    return [*lines, *_label_lines(task)]


def _setup_lines(state: PlaneState, imports: set[str]) -> list[str]:
    if state.task == "classification":
        imports.add("from sklearn.model_selection import StratifiedKFold, cross_val_predict")
        imports.add("from verulam.decision import decision_regions")
        imports.add("from verulam.plots import decision_regions as draw_regions")
        imports.add("from verulam.statistics import rate_interval")
        return [
            f"n_folds = min({state.folds}, np.unique(y, return_counts=True)[1].min())",
            f"folds = StratifiedKFold(n_folds, shuffle=True, random_state={state.seed})",
        ]
    if state.task == "regression":
        imports.add("from sklearn.model_selection import KFold, cross_val_score")
        imports.add("from verulam.statistics import t_interval")
    elif state.task == "density":
        imports.add("from sklearn.base import clone")
        imports.add("from sklearn.model_selection import KFold")
        imports.add("from verulam.statistics import t_interval")
    else:
        return []
    n_splits = f"min({state.folds}, len(X))"
    return [f"folds = KFold({n_splits}, shuffle=True, random_state={state.seed})"]


def _learner_lines(
    state: PlaneState, setting: LearnerSetting, place: int, imports: set[str]
) -> list[str]:
    name = "learner" if len(state.learners) == 1 else f"learner_{place + 1}"
    lines = [f"{name} = {constructor(setting, state.seed, imports)}"]
    fit = "fit(X, y)" if state.task in ("classification", "regression") else "fit(X)"
    lines.append(f"{name}.{fit}")
    return [*lines, *_result_lines(state, name)]


def _result_lines(state: PlaneState, name: str) -> list[str]:
    if state.task == "classification":
        return [
            (
                f"grid = decision_regions({name}, X, extent={state.extent!r}, "
                f"resolution={state.resolution})"
            ),
            f"errors = int(np.sum(cross_val_predict({name}, X, y, cv=folds) != y))",
            "interval = rate_interval(errors, len(y))",
            'print(f"error {errors / len(y):.1%} [{interval.low:.1%}, {interval.high:.1%}]")',
            f"draw_regions({name}, X, y)",
        ]
    if state.task == "regression":
        return [
            (
                f"errors = -cross_val_score({name}, X, y, cv=folds, "
                'scoring="neg_root_mean_squared_error")'
            ),
            "interval = t_interval(errors)",
            (
                'print(f"root mean squared error {errors.mean():.3g} '
                '[{interval.low:.3g}, {interval.high:.3g}]")'
            ),
            f"grid = np.linspace({state.extent[0]}, {state.extent[1]}, {2 * state.resolution})",
            f"curve = {name}.predict(grid[:, None])",
        ]
    if state.task == "density":
        return [
            "values = np.array([",
            f"    clone({name}).fit(X[train]).score_samples(X[test]).mean()",
            "    for train, test in folds.split(X)",
            "])",
            "interval = t_interval(values)",
            'print(f"log density {values.mean():.3g} [{interval.low:.3g}, {interval.high:.3g}]")',
        ]
    if state.task == "clustering":
        return [f"labels = {name}.labels_", 'print(f"{len(set(labels.tolist()))} clusters")']
    return [
        f"outside = {name}.predict(X) < 0",
        'print(f"{outside.sum()} of {len(X)} points outside")',
    ]


def constructor(setting: LearnerSetting, seed: int, imports: set[str]) -> str:
    """Return the code that makes a learner, and add what it imports.

    Parameters
    ----------
    setting
        Name and parameters.
    seed
        Where chance enters.
    imports
        Lines, to which those of the learner are added.
    """
    item = entry(setting.name)
    arguments = {**item.parameters, **arguments_of(setting, seed)}
    if _needs_parts(item):
        imports.add("from verulam.catalogue import entry")
        return f"entry({setting.name!r}).example().set_params({_arguments(arguments, imports)})"
    package, _, word = item.path.rpartition(".")
    imports.add(f"from {package} import {word}")
    return f"{word}({_arguments(arguments, imports)})"


def _arguments(arguments: dict[str, Any], imports: set[str]) -> str:
    parts = []
    for name, value in arguments.items():
        if isinstance(value, Kernel):
            imports.add(f"from verulam.kernel import {type(value).__name__}")
        elif not isinstance(value, int | float | str | bool | tuple | None):
            parameters = type(value).__name__
            imports.add(f"from {type(value).__module__.partition('._')[0]} import {parameters}")
        parts.append(f"{name}={value!r}")
    return ", ".join(parts)
