"""Numbers that decide speed and memory alone: no density, neighbour or smooth depends on them.

"Not measured" says that no record compares the number with others; the benchmark in brackets shows
what it acts on. Sizes that compiled loops are built around stand beside those loops: Numba compiles
anew only when the file of the loop changes.
"""

import numpy as np

#: Numbers of an intermediate table held at a time, 8 MB: larger blocks cost fewer calls, smaller
#: ones stay nearer to the cache. Not measured.
NUMBERS_AT_ONCE = 2**20
#: Distances held at a time where a metric has to be computed in full, 16 MB. Not measured
#: (`benchmarks/bench_nonparametric.py`, neighbours and memory).
DISTANCES_AT_ONCE = 2**21
#: Weights of targets, or draws of noise, held at a time by smoothers, 32 MB. Not measured
#: (`benchmarks/bench_smoothers.py`).
WEIGHTS_AT_ONCE = 2**22

#: So many neighbours are kept in order by insertion while rows are scanned; more are sorted
#: afterwards, for insertion costs their number each time. Not measured.
MOST_INSERTED = 64
#: Queries that a thread takes at a time at most: fewer spread better, more read the stored rows
#: less often. Not measured (`benchmarks/bench_nonparametric.py`, neighbours).
TASK_QUERIES = 256
#: Nanoseconds of the scan through all rows: for a pair of query and stored row, for one more
#: column; and the work that one thread has done before others have begun. Timings of one machine,
#: not on record (`benchmarks/bench_nonparametric.py`, neighbours).
SCAN_PAIR_TIME, SCAN_COLUMN_TIME, SCAN_THREADED_TIME = 0.5, 0.18, 300_000
#: The same of the search by matrix products. Timings of one machine, not on record.
GEMM_PAIR_TIME, GEMM_COLUMN_TIME, GEMM_THREADED_TIME = 0.35, 0.025, 400_000
#: Stored rows of one product at most and at least: so many that the result stays in the cache, and
#: that the call of BLAS pays. Not measured (`benchmarks/bench_nonparametric.py`, neighbours).
MOST_TILE_ROWS, LEAST_TILE_ROWS = 2048, 512
#: Up to so many multiplications BLAS has a way with less preparation. Not measured.
SMALL_PRODUCT = 10**6

#: Up to this many columns a k-d tree beats distances that have to be computed in full
#: (`benchmarks/bench_nonparametric.py`, neighbours, shows both sides; the border is not on record).
TREE_COLUMNS = 7
#: With fewer stored rows a tree has hardly anything to leave out. Not measured.
TREE_ROWS = 500
#: Queries that one thread answers from a tree before others have begun. Not measured.
TREE_QUERIES = 1000
#: Queries that a thread takes at a time from a tree. Not measured.
TREE_TASK_QUERIES = 1024
#: Microseconds of a query by tree: this, times the base for every dimension and the root of the
#: number of neighbours, and more for each neighbour; the base in 1,000 rows, and what e times as
#: many add to it. Fitted to times of 1,000 to 50,000 Gaussian rows in 2 to 8 columns.
TREE_TIME, TREE_NEIGHBOUR_TIME, TREE_BASE, TREE_BASE_GROWTH = 0.105, 0.05, 1.5, 0.1
#: How much longer a tree takes for other distances than the Euclidean, by Minkowski's order.
#: Timings of one machine, not on record.
TREE_FACTORS = {1.0: 3.0, np.inf: 1.5}
#: Up to this many columns a tree is quick wherever the queries are. Not measured.
CERTAIN_COLUMNS = 2
#: Queries are near, so that a tree pays, where so many of them have a row of a sample within so
#: many of its own gaps. Not measured (`benchmarks/bench_nonparametric.py`, odd data).
NEAR_SHARE, FAR_GAPS = 0.85, 4.0
#: With fewer stored rows, asking whether many columns vary in few dimensions costs too much. Not
#: measured.
MANIFOLD_ROWS = 5_000
#: Rows by which the dimension of the data is estimated, queries among them, and their neighbours:
#: more make the estimate surer and dearer. Not measured.
SAMPLE_ROWS, SAMPLE_QUERIES, SAMPLE_NEIGHBOURS = 500, 50, 10
#: Up to so many stored rows, measuring all is quicker than any preparation. Not measured.
SMALL_ROWS = 100
#: Queries that are answered by measuring all rows before a tree or tiles are made ready. Not
#: measured.
FEW_QUERIES = 30
#: Microseconds that all queries so far may take by measuring all rows before anything is prepared,
#: and queries that come so few at a time that products cost more. Timings of one machine, not on
#: record.
SCANNED_AT_MOST, FEW_AT_ONCE = 1000.0, 4
#: Queries that products are tried with, and the share left undecided above which they are not
#: used. Not measured (`benchmarks/bench_nonparametric.py`, odd data).
TRIED_QUERIES, CROWDED = 64, 0.8
#: Queries that one thread takes at a time in sums of windows. Not measured
#: (`benchmarks/bench_nonparametric.py`, densities).
WINDOW_QUERIES = 256
#: With no more blocks, or with more columns, bounding boxes are near to every query and bounds
#: leave nothing out. Not measured (`benchmarks/bench_nonparametric.py`, densities).
FEW_BLOCKS, BOX_COLUMNS = 4, 20
#: Queries whose points are listed at a time, where points have different weights. Not measured.
LISTED_QUERIES = 1024
#: Queries with metrics of their own that are worked on together. Not measured.
METRIC_QUERIES = 64

#: From this many inputs in reach of the average query on, the power series beats the plain sum of
#: Gaussians. Not measured (`benchmarks/bench_smoothers.py`, curves).
SERIES_REACH = 150
#: From this many on, sums that slide along the line beat visits to every input in reach; and
#: queries that slide in one go. Not measured (`benchmarks/bench_smoothers.py`, curves).
SLIDING_REACH, SLIDING_QUERIES = 60, 2048
#: Visits of inputs that make threads worth starting, and queries that each task takes. Not
#: measured.
THREADED_VISITS, VISIT_QUERIES = 2_000_000, 512
#: Targets whose ranks are taken together, at least: few enough for the cache. Not measured
#: (`benchmarks/bench_smoothers.py`, running median).
RANKED_TARGETS = 4096
#: With fewer windows, medians are taken by one thread. Not measured.
THREADED_WINDOWS = 2**16
