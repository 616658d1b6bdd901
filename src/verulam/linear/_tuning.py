"""Numbers that decide speed, not results beyond rounding, and what they trade."""

#: Steps of a trajectory whose products with all rows are formed at once: fewer calls for more
#: memory. Not measured.
TRAJECTORY_STEPS = 256

#: Rows, and weight vectors, that are multiplied at once in a linear vote: fewer calls for more
#: memory. Not measured.
VOTE_ROWS = 2_048
#: Rows whose kernel values with all corrections are computed at once: fewer calls for more memory.
#: Not measured.
KERNEL_ROWS = 512

#: Numbers of a block of rows in logistic likelihoods: many enough that the work outweighs the
#: calls, few enough that what is computed from them is still in the processor's cache when it is
#: needed again. The logistic races of benchmarks/bench_linear.py use it; no others were measured.
LOGISTIC_BLOCK_NUMBERS = 200_000
#: Inputs and outputs from which several threads share the blocks; below, starting them costs more
#: than they save. The logistic races of benchmarks/bench_linear.py lie on either side.
LOGISTIC_THREADED_NUMBERS = 1_000_000
#: Weights up to which two classes are solved by Newton's method, whose steps cost their cube, and
#: beyond by L-BFGS. The logistic races of benchmarks/bench_linear.py lie below; not measured above.
NEWTON_WEIGHTS = 1_000

#: A warm start: rows of a sample on which larger logistic problems begin, at least so many, and
#: so many for each weight. More rows begin nearer to the solution, but cost more. The logistic
#: races of benchmarks/bench_linear.py use it.
SAMPLE_ROWS = 1_000
SAMPLE_ROWS_PER_WEIGHT = 60
#: How many times more rows than its sample a problem must have for a warm start to pay. Likewise.
LARGE_SAMPLES = 4
#: A sample is solved no further than its own chance deviation from the whole. Likewise.
SAMPLE_TOL = 1e-3

#: With more slacks than these, and than ten times the weights, the interior point method is faster
#: than the simplex method. The linear programs of benchmarks/bench_linear.py have one slack only:
#: not measured there.
MANY_SLACKS = 1_000
#: Rows from which the dual of a linear program is solved, which has no inequalities of rows. Not
#: measured in benchmarks/bench_linear.py.
DUAL_ROWS = 1_000

#: Weights up to which the Gram matrix is formed for its largest eigenvalue; beyond, the power
#: method needs products with vectors only. Not measured.
GRAM_WEIGHTS = 1_000

#: Larger groups of a ranking are summed over sorted scores in n log n instead of pair by pair,
#: which has less overhead. It is compiled into `_ranking/ranking_loops.py`, whose cache must be
#: dropped after a change. The groups of benchmarks/bench_linear.py have 50 rows: not measured.
LARGE_GROUP = 200
