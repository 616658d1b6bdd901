"""Networks that make codes of their inputs, or remember them."""
