"""The study file that `verulam init` writes: it runs as it is, and its comments say the rest."""

EXAMPLE_STUDY = """\
# A study: what is asked, of which learners, on which data.
#   verulam plan {name}      shows every run before anything is run
#   verulam run {name}       carries them out; the same command goes on after an interruption
#   verulam report {store}   writes one HTML file with the answer on top

name = "first study"
question = "Which learner tells the three species of penguin apart best?"

# "assess": is each learner good enough? "compare": which of two is better?
# "choose": which is best? "order": in which order do they stand?
aim = "choose"

# The first measure decides; others can be asked for later, without running anything again.
measures = ["error", "log_loss"]

# Judge several together, among them "fit time", "predict time", "memory" and "model size":
# response = ["error", "fit time"]

# Ten folds, repeated twice, and up to ten times until the choice would survive other splits.
# Others: "10-fold", "5x10-fold" (repeated), "5x2", "holdout", "leave-one-out", "bootstrap", ...
# Where several rows belong together, such as those of one patient, keep them on one side:
# resampling = {{ kind = "k-fold", folds = 10, groups = "patient" }}
resampling = "2-10x10-fold"

# The same seed gives the same splits, the same order of runs and the same scores.
seed = 0

# Tune every learner with the same budget, within the training rows of each run:
# tuning = {{ method = "random", budget = 20, folds = 3 }}

# What the study may spend; raise it to go on. Time is that of all runs, one after the other.
# budget = {{ runs = 50, seconds = 3600 }}

# Limits for one run; a run that breaks them is written down as such, and the study goes on.
# time_limit = 60        # seconds
# memory_limit = 2000    # megabytes

# Repeat each run with other seeds, where chance has a part in the learner.
# replications = 3

# Prepare the tables in several ways, as a factor that all learners share.
# preparations = ["standardised", "unit range", "ranks"]

# What varies but is not controlled. A column is kept from the learners, and the analysis tells
# whether errors depend on it; anything else is for the record.
# nuisance = ["year", "who measured the flippers"]

# What is wished of the analysis; each can be said later, too. `matters` is the difference of the
# first measure below which two learners are as good as equal, `rule` says whom to recommend:
# "half standard error", "one standard error", "best mean" or "not rejected".
# analysis = {{ alpha = 0.01, acceptable = 0.05, matters = 0.02, simplicity = "interpretability" }}

# Learn from parts of the training rows too, for learning curves.
# training_shares = [0.25, 0.5, 1.0]

# A third of every data set is locked away: no run touches it until the study is finalised, so that
# the figure of the final model is an honest one. 0 uses all rows for the comparison.
test_share = 0.33

# What decisions cost, for the model that the study ends in: a row per decision, a loss per class,
# and what it costs to withhold a decision.
# losses = [[0, 1, 1], [1, 0, 1], [5, 5, 0]]
# reject_cost = 0.3

# A bundled data set (`verulam datasets` lists them), or a file beside this one:
#   [[data]]
#   source = "sales.csv"
#   target = "bought"
#   drop_missing_target = true    # leave out rows without a target value
#   leave_out = ["customer"]      # columns that are no inputs
#   rare = "join"                 # classes of fewer than 5 rows: keep, drop or join
[[data]]
source = "penguins"

# Learners, in any order: of two that do as well, the one of the simpler kind is recommended.
# `verulam learners` lists the names.
[[learners]]
name = "majority class"

[[learners]]
name = "naive bayes"

[[learners]]
name = "logistic regression"

# Factors are varied, and every combination of their levels is run; parameters stay the same.
# A design runs fewer: "best guess", "one at a time", "fractional", and for ranges of numbers, such
# as {{ low = 1, high = 31 }}, "central composite" or "box-behnken"; here or for all learners.
# design = {{ kind = "fractional", generators = ["D=ABC"] }}
# "sequential" adds settings where a fitted quadratic is best. "preparation", "training_share" and
# "data_set" may be factors too, and {{ multiples = [0.5, 1, 2], of = "neighbour distance" }} gives
# levels in the scale of each data set.
[[learners]]
name = "k-nearest neighbours"
factors = {{ n_neighbors = [1, 5, 15] }}

# With tuning, `tune` names what is tuned: ranges or lists. Without it the usual parameters of the
# learner are; `tune = false` leaves it as it is.
[[learners]]
name = "random forest"
parameters = {{ n_estimators = 30 }}
# tune = {{ max_features = {{ low = 0.1, high = 1.0 }}, min_samples_leaf = [1, 5, 20] }}
"""
