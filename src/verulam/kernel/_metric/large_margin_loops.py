"""Compiled loops behind large margin metrics: float64 and int32 C-arrays in, no checks."""

from verulam.numerics import njit


# Sums in any order let the processor add several columns at once.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def squared_distance(first, second):
    total = 0.0
    for j in range(first.shape[0]):
        difference = first[j] - second[j]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def target_squares(points, targets, squares):
    """Write the squared distance of each point to each of its targets."""
    for i in range(targets.shape[0]):
        for k in range(targets.shape[1]):
            squares[i, k] = squared_distance(points[i], points[targets[i, k]])


@njit(cache=True, nogil=True)
def push(points, targets, squares, starts, others, first, last, pulled, forces, force_on_i):
    """Return the sum of slacks and the number of triples with slack.

    Points i from `first` to `last` count. Candidates for impostors of i are
    ``others[starts[i]:starts[i + 1]]``. The number of impostors that come between i and each
    target is added to `pulled`; `forces` gets half the derivative of the slacks with respect to
    the points, but for the targets' part. `force_on_i` is scratch.
    """
    slack = 0.0
    count = 0
    n_targets = targets.shape[1]
    width = points.shape[1]
    for i in range(first, last):
        force_on_i[:] = 0.0
        reach = 0.0
        for k in range(n_targets):
            reach = max(reach, squares[i, k])
        # No triple beyond the farthest target and the margin has slack.
        reach += 1.0
        for place in range(starts[i], starts[i + 1]):
            other = others[place]
            gap = squared_distance(points[i], points[other])
            if gap >= reach:
                continue
            active = 0
            for k in range(n_targets):
                excess = squares[i, k] + 1.0 - gap
                if excess > 0.0:
                    slack += excess
                    active += 1
                    pulled[i, k] += 1.0
            count += active
            for j in range(width):
                force = active * (points[i, j] - points[other, j])
                force_on_i[j] += force
                forces[other, j] += force
        for j in range(width):
            forces[i, j] -= force_on_i[j]
    return slack, count


@njit(cache=True, nogil=True)
def pull(points, targets, weights, forces):
    """Add to `forces` half the derivative of the weighted squared distances to the targets."""
    for i in range(targets.shape[0]):
        for k in range(targets.shape[1]):
            other = targets[i, k]
            for j in range(points.shape[1]):
                force = weights[i, k] * (points[i, j] - points[other, j])
                forces[i, j] += force
                forces[other, j] -= force


@njit(cache=True, nogil=True)
def within_reach(products, half_lengths, limits, codes, first, counts, others):
    """Write the points of other classes that are within reach of each row of a block.

    Rows of `products` are the points from `first` on, columns all points. Returns how many were
    written to `others`; `counts` gets the number of each row.
    """
    total = 0
    for i in range(products.shape[0]):
        limit = limits[first + i]
        code = codes[first + i]
        before = total
        for other in range(products.shape[1]):
            # Written always, and overwritten by the next if out of reach: this costs less than a
            # branch that the processor guesses wrong.
            others[total] = other
            total += (products[i, other] - half_lengths[other] > limit) & (codes[other] != code)
        counts[first + i] = total - before
    return total
