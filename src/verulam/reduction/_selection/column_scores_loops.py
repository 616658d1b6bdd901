"""Compiled loops behind scores that add over columns: float64 arrays in, counts out, no checks."""

from verulam.numerics import njit


@njit()
def count_correct(totals, terms, candidates, sign, codes, correct):
    """Write how many rows are right when each candidate's terms are added to (or taken from)."""
    for place in range(candidates.shape[0]):
        column = candidates[place]
        hits = 0
        for row in range(totals.shape[0]):
            best = 0
            highest = totals[row, 0] + sign * terms[column, row, 0]
            for k in range(1, totals.shape[1]):
                score = totals[row, k] + sign * terms[column, row, k]
                if score > highest:
                    highest = score
                    best = k
            if best == codes[row]:
                hits += 1
        correct[place] = hits
