"""Prototypes with labels: learning vector quantisation."""
