"""What people ask for in other words than the texts, and what is no method of theirs."""

#: What people say, and what the texts and the catalogue call it.
SYNONYMS = {
    "knn": "nearest neighbour",
    "k-nn": "nearest neighbour",
    "rf": "random forest",
    "svm": "support vector",
    "svc": "support vector machine",
    "svr": "support vector regression",
    "xgboost": "gradient boosting",
    "lightgbm": "gradient boosting",
    "catboost": "gradient boosting",
    "gbm": "gradient boosting",
    "neural net": "perceptron",
    "neural nets": "perceptron",
    "neural networks": "perceptron",
    "deep learning": "perceptron",
    "cnn": "convolutional",
    "rnn": "recurrent",
    "gmm": "gaussian mixture",
    "em algorithm": "em",
    "gp": "gaussian process",
    "cart": "decision tree",
    "outlier detection": "outlier",
    "anomaly detection": "outlier",
    "kmeans": "k-means",
    "t-test": "t test",
    "logit": "logistic",
    # Names of functions of the toolbox that Bartkowiak uses, where letters alone mislead.
    "ls": "pseudo-inverse",
    "rbf kernel": "gaussian family",
    "rce": "coulomb",
    "outliers": "outlier",
    "random forests": "random forest",
    "dimensionality reduction": "principal component",
    "lda": "linear discriminant",
    "mlp": "perceptron",
    "feature selection": "subset selection",
    "ols": "linear regression",
    "lstm": "recurrent",
    "gru": "recurrent",
    "kriging": "gaussian process",
    "topic model": "latent dirichlet",
    "topic models": "latent dirichlet",
    "topic modelling": "latent dirichlet",
    "market basket": "apriori",
    "l1": "lasso",
    "l2": "ridge",
    "tsne": "isomap",
    "t-sne": "isomap",
    "umap": "isomap",
    "boosted trees": "gradient boosting",
}
#: What is not a method of the texts, and where it is.
ELSEWHERE = {
    "learning curve": "training_shares of a study; its report draws them.",
    "imbalance": "`verulam describe` says which class is rare; `compare` then takes --measure auc, "
    "and losses of a study say what each mistake costs (guide: Real tables).",
    "imbalanced": "see imbalance",
    "unbalanced": "see imbalance",
    "rare class": "see imbalance",
    "threshold": "name a learner '... (tuned threshold)' in `compare` (guide: Real tables).",
    "overfitting": "errors are always those of rows not learnt from; training_shares of a study "
    "draw learning curves; test_share locks rows away until the end.",
    "partial dependence": "the report and the card of a finalised model (guide: Real tables).",
    "shap": "see explain",
    "lime": "see explain",
    "calibration": "drawn in the report where one of two classes is rare; verulam.measures.",
    "interpret": "see explain",
    "class weight": "losses of a study; class_weight and sample_weight of most learners.",
    "feature importance": "the card of a finalised model; permutation_importance of "
    "ensemble.RandomForestClassifier; sklearn.inspection.permutation_importance for any learner.",
    "permutation importance": "see feature importance",
    "grid search": "tuning of a study (`verulam init` shows it); scikit-learn's GridSearchCV works "
    "with every learner.",
    "random search": "see grid search",
    "bayesian optimization": "see grid search",
    "bayesian optimisation": "see grid search",
    "optuna": "see grid search",
    "hyperparameter": "tuning of a study (`verulam init` shows it).",
    "missing value": "learners tagged `missing` take gaps as they are; for the others `compare` "
    "imputes within each training part.",
    "time series": "--resampling 'expanding 5 by DATE' tests on later rows; package "
    "verulam.sequence.",
    "group": "--groups COLUMN keeps rows of one patient or customer on one side of every split.",
    "text": "columns of text become components by themselves in `compare`; topics are in "
    "verulam.bayes.",
    "date": "columns of dates become time, season and weekday by themselves in `compare`.",
    "one hot": "categories become columns of 0 and 1 by themselves in `compare`, for learners "
    "that need it; `verulam describe` shows what each column becomes.",
    "one-hot": "see one hot",
    "scaling": "see one hot",
    "smote": "see imbalance",
    "oversampling": "see imbalance",
    "regularization": "see regularisation",
    "regularisation": "penalties and priors: ridge regression, lasso, weight decay of "
    "neural.MLPRegressor, C of support vector machines, bayes.BayesianLinearRegression.",
    "elastic net": "see regularisation",
    "dropout": "see regularisation",
    "dbscan": "verulam.cluster has k-means, mixtures, hierarchies, fuzzy and graph methods; "
    "DBSCAN is in sklearn.cluster.",
    "p-value": "`verulam compare` prints adjusted p; verulam.statistics has "
    "the tests of chapter 19.",
    "p value": "see p-value",
    "significance": "see p-value",
    "friedman": "verulam.statistics.friedman_test; `verulam report` of a study over "
    "many data sets.",
    "nemenyi": "see friedman",
    "critical difference": "see friedman",
    "excel": "verulam.data.read takes .xlsx, .csv, .parquet, .feather, .jsonl, .arff and .npz.",
    "explain": "`verulam explain MODEL FILE --row 2`; explain of naive Bayes and neighbours; the "
    "tree and the rules of readable learners.",
}
