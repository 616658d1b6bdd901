"""The figures of the chapters of Alpaydin's text, each with a knob or two."""
