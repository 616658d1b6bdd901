"""Networks for sequences: windows that slide over them, and units that remember."""
