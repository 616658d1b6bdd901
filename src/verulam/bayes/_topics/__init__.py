"""Topics: documents as mixtures of distributions over words."""
