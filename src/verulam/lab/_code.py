"""The Python that gives what a page shows, to copy: built from the state alone."""

import inspect
from inspect import signature
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
    imports.add("import matplotlib.pyplot as plt")
    return "\n".join([*_sorted(imports), "", *body, "", "plt.show()", ""])


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
    learner_class = entry(setting.name).learner_class
    if state.task == "clustering":
        if "first_radius" in signature(learner_class).parameters:
            imports.add("from verulam.plots import map_net")
            return [*lines, f"{name}.fit(X)", *_map_lines(name)]
        imports.add("from verulam.cluster import cluster_quality")
        imports.add("from verulam.plots import class_map")
        if hasattr(learner_class, "fit_predict"):
            return [*lines, f"labels = {name}.fit_predict(X)", *_cluster_lines()]
        return [*lines, f"labels = {name}.fit(X).predict(X)", *_cluster_lines()]
    if state.task == "outliers":
        imports.add("from verulam.plots import class_map")
        # Verdicts on other points than those of the training are asked for beforehand.
        if "novelty" in signature(learner_class).parameters:
            lines.append(f"{name}.set_params(novelty=True)")
        return [*lines, f"{name}.fit(X)", *_outlier_lines(name)]
    if state.task == "density":
        return [*lines, f"{name}.fit(X)", *_density_lines(state, name)]
    if state.task == "regression":
        return [*lines, f"{name}.fit(X, y)", *_curve_lines(learner_class, state, name)]
    return [*lines, f"{name}.fit(X, y)", *_region_lines(state, name)]


def _region_lines(state: PlaneState, name: str) -> list[str]:
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


def _curve_lines(learner_class: Any, state: PlaneState, name: str) -> list[str]:
    lines = [
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
        "plt.figure()",
        'plt.plot(X[:, 0], y, "o", color="0.6")',
        "plt.plot(grid, curve)",
    ]
    width = ""
    if "return_std" in signature(learner_class.predict).parameters:
        lines[4] = f"curve, spread = {name}.predict(grid[:, None], return_std=True)"
        width = "1.96 * spread"
    elif hasattr(learner_class, "support_") or "epsilon" in signature(learner_class).parameters:
        width = f"{name}.epsilon_"
    if width:
        lines.append(f"plt.fill_between(grid, curve - {width}, curve + {width}, alpha=0.2)")
    return lines


def _density_lines(state: PlaneState, name: str) -> list[str]:
    left, right, bottom, top = state.extent
    n = state.resolution
    return [
        "values = np.array([",
        f"    clone({name}).fit(X[train]).score_samples(X[test]).mean()",
        "    for train, test in folds.split(X)",
        "])",
        "interval = t_interval(values)",
        'print(f"log density {values.mean():.3g} [{interval.low:.3g}, {interval.high:.3g}]")',
        f"across, up = np.linspace({left}, {right}, {n}), np.linspace({bottom}, {top}, {n})",
        "places = np.stack(np.meshgrid(across, up), axis=-1)",
        f"logs = {name}.score_samples(places.reshape(-1, 2)).reshape({n}, {n})",
        "density = np.exp(np.clip(logs, -700.0, 700.0))",
        "plt.figure()",
        'plt.pcolormesh(across, up, np.sqrt(density / density.max()), cmap="Blues")',
        'plt.plot(X[:, 0], X[:, 1], ".", color="0.3")',
    ]


def _cluster_lines() -> list[str]:
    return [
        "n_clusters = len(set(labels.tolist()))",
        'print(f"{n_clusters} clusters")',
        "if 1 < n_clusters < len(X):",
        '    print(f"silhouette {cluster_quality(X, labels).silhouette:.2f}")',
        "plt.figure()",
        "class_map(X, labels, ax=plt.gca())",
    ]


def _map_lines(name: str) -> list[str]:
    return [
        f'print(f"quantisation error {{{name}.quantisation_error_:.3g}}")',
        f'print(f"topographic error {{{name}.topographic_error_:.1%}}")',
        "plt.figure()",
        f"map_net({name}, X, ax=plt.gca())",
    ]


def _outlier_lines(name: str) -> list[str]:
    return [
        f"outside = {name}.predict(X) < 0",
        'print(f"{outside.sum()} of {len(X)} points outside")',
        "plt.figure()",
        'class_map(X, np.where(outside, "outside", "inside"), ax=plt.gca())',
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
