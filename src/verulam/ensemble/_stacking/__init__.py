"""Stacking: combiners that are trained on what members say about rows they have not seen."""
