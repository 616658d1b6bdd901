"""Diagrams of graphs: nodes of many shapes, arcs, plates, and what is known beside them."""
