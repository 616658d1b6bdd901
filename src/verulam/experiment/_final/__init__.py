"""From a study to a model in use: final fit, card, file, predictions."""
