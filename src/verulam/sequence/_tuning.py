"""Numbers that decide speed, not results beyond rounding, and what they trade."""

#: Numbers per array (steps times states) of a group of short sequences: large enough that the work
#: outweighs the calls, small enough that the arrays of a group stay in the processor's cache. A
#: single sequence of as many is worked through from both ends. The races of
#: benchmarks/bench_sequence.py lie on either side; no other sizes are measured there.
GROUP_NUMBERS = 2**17
#: The same where symbols are looked up, which keeps the shares of one sequence only. The race from
#: left to right in benchmarks/bench_sequence.py uses it; no other sizes are measured there.
SYMBOL_GROUP_NUMBERS = 2**19
#: Numbers in all from which groups are shared out to threads; below, threads cost more than they
#: save. The races of benchmarks/bench_sequence.py lie above; not measured below.
THREADED_NUMBERS = 2**18

#: States up to which transitions are added up step by step; beyond, one matrix product over all
#: steps is quicker. The races of benchmarks/bench_sequence.py lie on either side, at 8 and 64.
SUMMED_STATES = 12
#: States up to which transitions are stored as a dense matrix whatever their number: so few have
#: nothing to save. Not measured.
DENSE_STATES = 4
#: Share of possible transitions from which on the dense loops, which read memory in order, are
#: quicker than those over edges. Not measured.
DENSE_SHARE = 0.25
#: How many times emptier than edges diagonals may be: vector instructions read a whole diagonal in
#: the time of a few single edges. The race from left to right in benchmarks/bench_sequence.py sets
#: full diagonals beside a dense matrix; the border itself is not measured.
DIAGONAL_WASTE = 4
#: Width that rows of states are padded to a multiple of, along diagonals: that of the widest vector
#: registers, 8 numbers. The race from left to right in benchmarks/bench_sequence.py uses it; no
#: other widths are measured there.
LANES = 8

#: Steps whose combined states are compared at once in factorial models: fewer calls for more
#: memory. Not measured.
COMBINED_BLOCK_STEPS = 1024

#: Steps of a group of short sequences in linear dynamical systems, the share of work that a thread
#: takes at a time. Not measured.
SYSTEM_GROUP_STEPS = 2**14
