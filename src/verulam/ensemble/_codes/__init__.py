"""Error-correcting output codes: matrices, their quality, classifiers made of dichotomies."""
