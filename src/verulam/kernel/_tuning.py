"""Numbers of this package that trade speed and memory, and leave results within their tolerances.

Each names the race that exercises it. No sweep over values is on record for any of them: to change
one, run the race before and after. "Not measured" stands where no race depends on it.
"""

# Gram matrices and sums of kernels.

#: Entries of a Gram matrix that one task of `Kernel.fill` computes: fewer start more tasks, more
#: leave the processor's cache. Exercised by `benchmarks/bench_kernel_objects.py` (components).
GRAM_BLOCK_ENTRIES = 2**20
#: Entries from which `Kernel.fill` takes a second thread, which costs time to start. Exercised by
#: `benchmarks/bench_kernel_objects.py` (components).
GRAM_THREADED_ENTRIES = 2**19
#: Rows and columns of a tile of the Gaussian kernel in single precision: its inner products should
#: still be in the cache when they become exponentials. `benchmarks/bench_kernel.py` (C-SVM).
GAUSSIAN_TILE_ROWS, GAUSSIAN_TILE_COLUMNS = 64, 2048
#: Entries from which those tiles are shared among threads. `benchmarks/bench_kernel.py` (C-SVM).
GAUSSIAN_THREADED_ENTRIES = 2**20
#: Kernel values that one block of queries makes in a prediction: they should stay near the
#: processor until they are summed. `benchmarks/bench_kernel.py` (predict 100k).
EXPANSION_BLOCK_ENTRIES = 2**18
#: The largest Gram matrix whose eigenvalues are all computed to see whether it is positive
#: semidefinite; beyond, Lanczos' iteration finds both ends. Not measured.
ALL_EIGENVALUES = 1500
#: From this size on, a few eigenvectors are found by Lanczos' iteration instead of all of them.
#: `benchmarks/bench_kernel_objects.py` (components).
ITERATED_EIGENVECTORS = 800

# The dual solver.

#: Coefficients of a working set, whose own Gram matrix is held as well: larger ones need fewer
#: rounds, and more memory and steps in each. `benchmarks/bench_kernel.py` (C-SVM).
WORKING_SET_SIZE = 1536
#: Up to this many coefficients are one working set, solved to the tolerance at once: to select
#: some of them would take longer. `benchmarks/bench_kernel.py` (small data).
SOLVED_AT_ONCE = 512
#: Most steps within a working set, per coefficient of it. `benchmarks/bench_kernel.py` (C-SVM).
STEPS_PER_COEFFICIENT = 40
#: A working set is solved until its violation is this share of the one that it was selected for:
#: to solve it further would be undone by the next. `benchmarks/bench_kernel.py` (C-SVM).
INNER_SHARE = 0.2
#: The same where all coefficients that may have to move fit into the working set, so that little
#: will be undone. `benchmarks/bench_kernel.py` (C-SVM).
INNER_SHARE_OF_ALL = 0.02
#: Coefficients enter a working set that would violate the KKT conditions if gradients changed by
#: this share of the worst violation: fewer make smaller sets, and more of them.
#: `benchmarks/bench_kernel.py` (C-SVM).
NEARLY_VIOLATING = 0.3
#: Last moves that subspace acceleration combines; each costs two vectors of memory.
#: `benchmarks/bench_kernel.py` (C-SVM, C = 100).
ACCELERATED_MOVES = 5
#: Coefficients that share what clipping took from a sum: few, as the kernel row of each is needed.
#: `benchmarks/bench_kernel.py` (C-SVM, C = 100).
SUM_BEARERS = 16
#: Most passes of dual coordinate descent, in each round of its bias too, and most of those rounds;
#: the general solver does what they leave undone. `benchmarks/bench_kernel_family.py` (planes).
#: With 300 passes a round of the bias, 4,000 rows of 30 columns took about as long where C is 10
#: or 1,000, and 1.5 and 4 times as long where it is 100; 20,000 rows as long where it is 10.
DESCENT_PASSES, DESCENT_ROUNDS = 3000, 30

# The cache of kernel rows.

#: More inputs than these have their rows in single precision: half the memory is read, and twice
#: the rows fit. `benchmarks/bench_kernel.py` (C-SVM 10k, 40k).
DOUBLE_PRECISION_ROWS = 3000
#: Numbers for each input that the solver and the computing of rows hold beside the cache, for its
#: budget. Checked by `tests/kernel/solvers/test_row_cache.py`.
WORKING_NUMBERS = 48
#: Bytes of the tiles that two threads compute rows in, for the same budget.
TILE_BYTES = 3 * 2**20

# Paths of costs.

#: Share of support vectors at their bound from which they move to the next cost's bound together,
#: in the warm start. `benchmarks/bench_kernel.py` (path of 10 costs).
MOSTLY_BOUNDED = 2.0 / 3.0
#: Rows from which the largest costs of a path are a chain of their own in a second thread.
#: `benchmarks/bench_kernel.py` (path of 10 costs).
CHAINED_ROWS = 1000

# Several kernels.

#: With more inputs than these all Gram matrices of several kernels are in single precision: the
#: time goes into reading them. `benchmarks/bench_kernel_family.py` (five Gaussian kernels).
SEVERAL_DOUBLE_PRECISION_ROWS = 500
#: Kernel values from which several Gram matrices are read by two threads.
#: `benchmarks/bench_kernel_family.py` (five Gaussian kernels).
SEVERAL_THREADED_ENTRIES = 2**21
#: With more kernels than these a step of sequential quadratic programming, whose cost grows with
#: their cube, takes longer than it saves. Not measured.
QUADRATIC_KERNELS = 100

# Ranking by cutting planes.

#: Halvings of the line between the best scores and those of the planes; each counts all pairs.
#: `benchmarks/bench_kernel_family.py` (preferences).
LINE_HALVINGS = 8
#: Where the next plane touches the loss, from the best scores towards those of the planes.
#: `benchmarks/bench_kernel_family.py` (preferences).
TOUCHING_SHARE = 0.1
#: The program over the planes is solved to this share of the gap that is aimed at.
#: `benchmarks/bench_kernel_family.py` (preferences).
PLANES_SHARE = 0.05
#: Most working sets of the solver of that program; where they are not enough, the next plane is
#: as good. `benchmarks/bench_kernel_family.py` (preferences).
PLANES_WORKING_SETS = 40

# Large margin metrics.

#: Entries of a block of inner products when impostors are sought.
#: `benchmarks/bench_kernel_objects.py` (large margin neighbours).
IMPOSTOR_BLOCK_ENTRIES = 2**20
#: Candidates are all that are less than this many margins beyond reach: more of them stay right
#: for more steps of the metric. `benchmarks/bench_kernel_objects.py` (large margin neighbours).
LOOKAHEAD = 1.5
#: Steps of the metric between two searches for candidates.
#: `benchmarks/bench_kernel_objects.py` (large margin neighbours).
STEPS_PER_SEARCH = 15
#: Parts that impostors are counted in, whatever the number of threads, so that sums stay the same.
#: `benchmarks/bench_kernel_objects.py` (large margin neighbours).
IMPOSTOR_PARTS = 2
#: Differences from which those parts are counted by two threads.
#: `benchmarks/bench_kernel_objects.py` (large margin neighbours).
IMPOSTOR_THREADED_ENTRIES = 2**18
