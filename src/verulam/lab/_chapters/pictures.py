"""From a figure and its knobs to a picture, to facts and to code."""

import ast
import inspect
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import matplotlib as mpl
import matplotlib.pyplot as plt

from verulam.base import DataError
from verulam.lab._chapters import figures

Facts = dict[str, float | int | str]
DOTS = 100
#: Of the network whose nodes can be clicked.
NODES = ("cloudy", "sprinkler", "rain", "wet")


@dataclass(frozen=True)
class Knob:
    """What can be turned in a figure.

    Attributes
    ----------
    name
        Argument of the figure's function.
    label
        As it is shown.
    low, high, step
        Range of a number; a whole number where the step is one.
    options
        Words to choose from, instead of a range.
    clicked
        "nodes" of a network or "cells" of a grid, which are changed in the picture itself.
    """

    name: str
    label: str
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    options: tuple[str, ...] = ()
    clicked: Literal["", "nodes", "cells"] = ""


@dataclass(frozen=True)
class ChapterFigure:
    """A figure of a chapter.

    Attributes
    ----------
    chapter
        Its number in Alpaydin's text.
    title
        Of the figure.
    section
        Where the text treats it.
    guide
        Page of the guide that shows more.
    function
        Draws it, from the values of its knobs.
    knobs
        What can be turned.
    """

    chapter: int
    title: str
    section: str
    guide: str
    function: Callable[..., Facts]
    knobs: tuple[Knob, ...]

    @property
    def defaults(self) -> dict[str, Any]:
        """The values that the knobs begin with."""
        parameters = inspect.signature(self.function).parameters
        return {knob.name: parameters[knob.name].default for knob in self.knobs}


@dataclass(frozen=True)
class Drawing:
    """A drawn figure.

    Attributes
    ----------
    png
        The picture.
    width, height
        In pixels.
    facts
        What the figure returned.
    box, limits
        Where the axes are in the picture, as shares, and the ends of their scales.
    texts
        Words on the axes and where they stand.
    """

    png: bytes
    width: int
    height: int
    facts: Facts = field(default_factory=dict)
    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    limits: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 1.0)
    texts: tuple[tuple[str, float, float], ...] = ()

    def place(self, across: float, up: float) -> tuple[float, float]:
        """Return the place on the axes of a place in the picture, both as shares of it."""
        left, bottom, width, height = self.box
        first, second, low, high = self.limits
        return (
            first + (across - left) / width * (second - first),
            low + (up - bottom) / height * (high - low),
        )


def render(number: int, arguments: Mapping[str, Any]) -> Drawing:
    """Draw a figure.

    Parameters
    ----------
    number
        Position in `FIGURES`.
    arguments
        Values of its knobs.
    """
    mpl.use("agg")
    plt.close("all")
    facts = FIGURES[number].function(**arguments)
    figure = plt.gcf()
    file = io.BytesIO()
    figure.savefig(file, dpi=DOTS, format="png")
    axes = figure.axes[0]
    box = axes.get_position()
    spots = [(text.get_text(), text.get_position()) for text in axes.texts]
    width, height = (round(inches * DOTS) for inches in figure.get_size_inches())
    plt.close("all")
    return Drawing(
        file.getvalue(),
        width,
        height,
        facts,
        (box.x0, box.y0, box.width, box.height),
        (*axes.get_xlim(), *axes.get_ylim()),
        tuple((text, float(x), float(y)) for text, (x, y) in spots),
    )


def code_of(function: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return a program: what a function imports, the function, and its call.

    Parameters
    ----------
    function
        Of a module whose imports stand at its top.
    arguments
        To call it with.

    Examples
    --------
    >>> code_of(figures.best_path, {"stay": 0.5}).splitlines()[-2]
    'print(facts)'
    """
    source = inspect.getsource(function)
    tree = ast.parse(source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    module = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    lines = []
    for node in module.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            used = [item for item in node.names if (item.asname or item.name) in names]
            if used:
                lines.append(_import_line(node, used))
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in names:
            lines += ["", ast.unparse(node)]
    if not any("pyplot" in line for line in lines):
        lines.insert(0, "import matplotlib.pyplot as plt")
    values = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    call = f"facts = {function.__name__}({values})\nprint(facts)\nplt.show()\n"
    return "\n".join([*lines, "", "", source, "", call])


def _import_line(node: ast.Import | ast.ImportFrom, used: Sequence[ast.alias]) -> str:
    names = ", ".join(ast.unparse(item) for item in used)
    if isinstance(node, ast.Import):
        return f"import {names}"
    return f"from {node.module} import {names}"


def clicked_nodes(drawing: Drawing, known: Mapping[str, str], place: tuple[float, float]) -> dict:
    """Return the evidence after a click: unknown, then yes, then no, then unknown again."""
    spots = [
        ((x - place[0]) ** 2 + (y - place[1]) ** 2, text.split("\n")[0])
        for text, x, y in drawing.texts
        if text.split("\n")[0] in NODES
    ]
    if not spots:
        return dict(known)
    node = min(spots)[1]
    following = {None: "yes", "yes": "no", "no": None}[known.get(node)]
    rest = {name: value for name, value in known.items() if name != node}
    return rest if following is None else {**rest, node: following}


def clicked_cell(world: str, place: tuple[float, float]) -> str:
    """Return the map of a world after a click: free, wall, pit, goal, start, free again."""
    rows = [list(row) for row in world.splitlines()]
    column, row = round(place[0]), round(place[1])
    if not (0 <= row < len(rows) and 0 <= column < len(rows[row])):
        return world
    cycle = ".#PGS"
    sign = cycle[(cycle.index(rows[row][column]) + 1) % len(cycle)]
    if sign == "S":
        # An episode begins in one place.
        rows = [["." if cell == "S" else cell for cell in line] for line in rows]
    rows[row][column] = sign
    return "\n".join("".join(line) for line in rows)


def check_knobs(figure: ChapterFigure, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of a figure's knobs, with defaults for the others; wrong ones are refused.

    Parameters
    ----------
    figure
        Whose knobs they are.
    values
        From a link.
    """
    accepted = dict(figure.defaults)
    knobs = {knob.name: knob for knob in figure.knobs}
    for name, value in values.items():
        knob = knobs.get(name)
        if knob is None:
            raise DataError(f"{figure.title!r} has no knob {name!r}: it has {', '.join(knobs)}.")
        accepted[name] = _checked(knob, value)
    return accepted


def _checked(knob: Knob, value: Any) -> Any:
    if knob.clicked == "nodes":
        if value is None or (
            isinstance(value, dict)
            and set(value) <= set(NODES)
            and all(answer in ("yes", "no") for answer in value.values())
        ):
            return value
    elif knob.clicked == "cells":
        if isinstance(value, str) and len(value) <= 200 and set(value) <= set(".#PGS\n"):
            return value
    elif knob.options:
        if value in knob.options:
            return value
    elif (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and knob.low <= value <= knob.high
    ):
        return round(value) if knob.step == 1 else float(value)
    raise DataError(f"{knob.label} has a value that is not accepted: {value!r}.")


FIGURES: tuple[ChapterFigure, ...] = (
    ChapterFigure(
        8, "Bandwidth of a window", "8.2.2", "neighbours", figures.window_bandwidth,
        (Knob("bandwidth", "bandwidth", 0.05, 1.5, 0.05), Knob("n", "points", 5, 60)),
    ),
    ChapterFigure(
        8, "Bandwidth of a smoother", "8.3", "smoothers", figures.smoother_bandwidth,
        (Knob("bandwidth", "bandwidth", 0.05, 2.0, 0.05), Knob("noise", "noise", 0.0, 1.0, 0.05)),
    ),
    ChapterFigure(
        9, "Depth of a tree", "9.2", "tree", figures.tree_depth,
        (
            Knob("max_depth", "depth", 1, 10),
            Knob("show", "show", options=("regions", "tree")),
        ),
    ),
    ChapterFigure(
        10, "Boundary of two Gaussians", "10.4", "linear", figures.linear_boundary,
        (
            Knob("separation", "distance of the means", 0.5, 4.0, 0.25),
            Knob("covariance_type", "covariance", options=("tied", "full", "diag", "spherical")),
        ),
    ),
    ChapterFigure(
        11, "Boundary by epoch", "11.8", "neural", figures.network_epoch,
        (Knob("epoch", "epoch", 1, 200), Knob("hidden_units", "hidden units", 1, 20)),
    ),
    ChapterFigure(
        12, "Ordering of a map", "12.2.3", "maps", figures.map_ordering,
        (Knob("passes", "passes", 1, 20), Knob("side", "units along a side", 3, 10)),
    ),
    ChapterFigure(
        12, "Sum of radial units", "12.3", "local", figures.radial_units,
        (Knob("n_units", "units", 1, 30), Knob("spread_share", "width", 0.1, 2.0, 0.1)),
    ),
    ChapterFigure(
        13, "C and width of a kernel machine", "13.6", "kernel", figures.machine_margin,
        (Knob("C", "C", 0.1, 100.0, 0.1), Knob("width", "width", 0.1, 5.0, 0.1)),
    ),
    ChapterFigure(
        14, "Evidence in a network", "14.2", "graphical", figures.network_evidence,
        (Knob("evidence", "click a node to say yes, no or nothing of it", clicked="nodes"),),
    ),
    ChapterFigure(
        15, "Best path in a trellis", "15.6", "sequence", figures.best_path,
        (
            Knob("stay", "probability to stay", 0.5, 0.99, 0.01),
            Knob("noise", "probability of the other letter", 0.01, 0.49, 0.01),
        ),
    ),
    ChapterFigure(
        16, "Strength of a prior", "16.3", "bayes", figures.prior_strength,
        (Knob("strength", "prior counts", 0.5, 50.0, 0.5), Knob("n", "observations", 1, 60)),
    ),
    ChapterFigure(
        16, "A coin and its prior", "16.2.2", "bayes", figures.coin_prior,
        (
            Knob("a", "imagined heads", 1, 30), Knob("b", "imagined tails", 1, 30),
            Knob("heads", "heads", 0, 30), Knob("tosses", "tosses", 1, 30),
        ),
    ),
    ChapterFigure(
        17, "Rounds of boosting", "17.7", "ensemble", figures.boosting_rounds,
        (Knob("rounds", "rounds", 1, 60),),
    ),
    ChapterFigure(
        18, "An agent in a grid world", "18.5", "reinforcement", figures.grid_agent,
        (
            Knob("world", "click a cell: free, wall, pit, goal, start", clicked="cells"),
            Knob("episodes", "episodes", 1, 500), Knob("epsilon", "exploration", 0.0, 1.0, 0.05),
            Knob("slip", "slips", 0.0, 0.5, 0.05),
        ),
    ),
    ChapterFigure(
        19, "Power of a test", "19.9", "statistics", figures.power_of_a_test,
        (Knob("n", "values", 5, 60), Knob("alpha", "level", 0.01, 0.2, 0.01)),
    ),
    ChapterFigure(
        19, "A threshold and its ROC curve", "19.7", "measures", figures.roc_separation,
        (Knob("separation", "distance of the classes", 0.0, 4.0, 0.1),
         Knob("threshold", "threshold", -2.0, 4.0, 0.05)),
    ),
)  # fmt: skip
