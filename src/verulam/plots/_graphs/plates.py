"""Plate diagrams of Bayesian models: what is drawn from what, and how often."""

from dataclasses import dataclass

from matplotlib.axes import Axes

from verulam.base import unknown_name
from verulam.plots._graphs.diagram import GraphEdge, GraphNode, Plate, graph_diagram


@dataclass(frozen=True)
class GenerativeModel:
    """A model as a graph in the order in which its variables are drawn.

    Attributes
    ----------
    nodes
        Variables, those that are observed shaded.
    edges
        Which variables others depend on.
    plates
        Variables that are drawn repeatedly, with how often.
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    plates: tuple[Plate, ...]


def _model(
    nodes: dict[str, tuple[str, bool, tuple[float, float]]],
    edges: str,
    plates: dict[str, str],
) -> GenerativeModel:
    return GenerativeModel(
        tuple(
            GraphNode(name, label=label, shaded=observed, position=place)
            for name, (label, observed, place) in nodes.items()
        ),
        tuple(
            GraphEdge(start, end) for start, _, end in (arc.partition(">") for arc in edges.split())
        ),
        tuple(Plate(tuple(names.split()), label) for label, names in plates.items()),
    )


#: Models of chapter 16 by name: nodes with label, whether observed, and place; arcs; plates.
MODELS = {
    "parameter": _model(
        {
            "theta": (r"$\theta$", False, (1.1, 2.0)),
            "x": ("$x^t$", True, (0.0, 0.0)),
            "next": ("$x'$", False, (2.4, 0.0)),
        },
        "theta>x theta>next",
        {"$N$": "x"},
    ),
    "regression": _model(
        {
            "alpha": (r"$\alpha$", False, (0.0, 4.0)),
            "beta": (r"$\beta$", False, (4.6, 2.0)),
            "w": ("$w$", False, (0.0, 2.0)),
            "x": ("$x^t$", True, (2.3, 2.0)),
            "r": ("$r^t$", True, (2.3, 0.0)),
        },
        "alpha>w w>r x>r beta>r",
        {"$N$": "x r"},
    ),
    "mixture": _model(
        {
            "alpha": (r"$\alpha$", False, (0.0, 4.2)),
            "pi": (r"$\pi$", False, (0.0, 2.2)),
            "z": ("$z^t$", False, (0.0, 0.0)),
            "x": ("$x^t$", True, (2.4, 0.0)),
            "mu": (r"$\mu_k$", False, (4.9, 1.0)),
            "precision": (r"$\Lambda_k$", False, (4.9, -1.0)),
        },
        "alpha>pi pi>z z>x precision>mu mu>x precision>x",
        {"$N$": "z x", "$K$": "mu precision"},
    ),
    "topics": _model(
        {
            "alpha": (r"$\alpha$", False, (1.8, 5.0)),
            "pi": (r"$\pi_d$", False, (1.8, 3.2)),
            "z": ("$z^t$", False, (0.0, 1.6)),
            "x": ("$x^t$", True, (0.0, -0.4)),
            "w": ("$w_k$", False, (4.6, -0.4)),
            "beta": (r"$\beta$", False, (4.6, 2.0)),
        },
        "alpha>pi pi>z z>x w>x beta>w",
        {"$N_d$": "z x", "$D$": "pi z x", "$K$": "w"},
    ),
}


def plate_diagram(model: str | GenerativeModel, *, ax: Axes | None = None) -> Axes:
    """Draw a generative model: variables in the order of sampling, plates around what is repeated.

    Parameters
    ----------
    model
        "parameter" (figure 16.1), "regression" (14.7), "mixture" (16.9), "topics" (16.12), or a
        model of your own.
    ax
        Axes to draw on.

    Notes
    -----
    Observed variables are shaded. See Alpaydin 16.1, 16.7 and 16.11.

    Examples
    --------
    >>> from verulam.plots import plate_diagram
    >>> len(plate_diagram("parameter").texts)
    4
    """
    if isinstance(model, GenerativeModel):
        graph = model
    elif model in MODELS:
        graph = MODELS[model]
    else:
        raise unknown_name("model", str(model), MODELS)
    return graph_diagram(graph.nodes, graph.edges, graph.plates, ax=ax)
