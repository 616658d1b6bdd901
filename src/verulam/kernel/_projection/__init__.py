"""Components, discriminants and correlations in a kernel's space, and feature maps."""
