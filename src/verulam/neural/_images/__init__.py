"""Networks for images and signals: windows on the inputs, and hints on what may change in them."""
