"""Networks on scikit-learn's protocol: a classifier and a density."""
