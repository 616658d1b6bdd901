"""Plate diagrams: nodes, arcs and plates of the models of chapter 16."""

import pytest

from verulam.base import UnknownNameError
from verulam.plots import GenerativeModel, GraphEdge, GraphNode, Plate, plate_diagram
from verulam.plots._graphs.plates import MODELS


@pytest.mark.parametrize(
    ("name", "arcs", "observed", "plates"),
    [
        ("parameter", {("theta", "x"), ("theta", "next")}, {"x"}, {"$N$": {"x"}}),
        (
            "regression",
            {("alpha", "w"), ("w", "r"), ("x", "r"), ("beta", "r")},
            {"x", "r"},
            {"$N$": {"x", "r"}},
        ),
        (
            "mixture",
            {("alpha", "pi"), ("pi", "z"), ("z", "x"), ("mu", "x"), ("precision", "x"),
             ("precision", "mu")},
            {"x"},
            {"$N$": {"z", "x"}, "$K$": {"mu", "precision"}},
        ),
        (
            "topics",
            {("alpha", "pi"), ("pi", "z"), ("z", "x"), ("w", "x"), ("beta", "w")},
            {"x"},
            {"$N_d$": {"z", "x"}, "$D$": {"pi", "z", "x"}, "$K$": {"w"}},
        ),
    ],
)  # fmt: skip
def test_models_of_the_text(name, arcs, observed, plates):
    """Figures 16.1, 14.7, 16.9 and 16.12."""
    model = MODELS[name]
    assert {(edge.start, edge.end) for edge in model.edges} == arcs
    assert {node.name for node in model.nodes if node.shaded} == observed
    assert {plate.label: set(plate.names) for plate in model.plates} == plates
    axes = plate_diagram(name)
    labels = {text.get_text() for text in axes.texts}
    assert {node.label for node in model.nodes} <= labels
    assert set(plates) <= labels


def test_a_model_of_your_own():
    model = GenerativeModel(
        (GraphNode("a"), GraphNode("b", shaded=True)), (GraphEdge("a", "b"),), (Plate(("b",), "N"),)
    )
    labels = {text.get_text() for text in plate_diagram(model).texts}
    assert {"a", "b", "N"} <= labels
    with pytest.raises(UnknownNameError, match="Unknown model 'mixtur'"):
        plate_diagram("mixtur")
