"""Compiled loops behind the quick reading of CSV files: bytes in, numbers and places out."""

import numpy as np

from verulam.numerics import njit

#: What is known of a column once it is read: it has gaps, numbers with a decimal point.
WHOLE, GAPS, FRACTIONS = np.int64(0), np.int64(1), np.int64(2)
#: Up to so many digits a whole number, and up to this power a power of ten, are floats exactly.
_EXACT_DIGITS, EXACT_POWER = 15, 22
#: Beyond that a float does not tell a whole number from the next.
_LARGEST = 2.0**53
_NEWLINE, _RETURN, _SPACE, _TAB, _PLUS, _MINUS, _ZERO, _NINE = 10, 13, 32, 9, 43, 45, 48, 57
_CAPITAL_E, _SMALL_E = 69, 101
_NO_NUMBER = np.int64(-1)
#: Places without a sign: with one, each look at a byte would ask whether it counts from the end.
_ONE = np.uint64(1)


@njit(error_model="numpy")
def _any_number(content, place, is_end, point, powers):
    """Return what is written there as a number, where it ends, and its kind.

    The kind is -1 of what is no number, and of one that two exact floats do not make.
    """
    is_negative = content[place] == _MINUS
    place += np.uint64(is_negative or content[place] == _PLUS)
    value, n_digits, exponent, kind = 0.0, np.int64(0), np.int64(0), WHOLE
    while _ZERO <= content[place] <= _NINE or (content[place] == point and kind == WHOLE):
        if content[place] == point:
            kind = FRACTIONS
        else:
            value = 10.0 * value + (np.int64(content[place]) - _ZERO)
            n_digits += 1
            exponent -= kind == FRACTIONS
        place += _ONE
    is_exact = 0 < n_digits <= _EXACT_DIGITS
    if content[place] == _SMALL_E or content[place] == _CAPITAL_E:
        kind = FRACTIONS
        place += _ONE
        is_small = content[place] == _MINUS
        place += np.uint64(is_small or content[place] == _PLUS)
        power, n_digits = np.int64(0), np.int64(0)
        while _ZERO <= content[place] <= _NINE and n_digits < 3:
            power = 10 * power + (np.int64(content[place]) - _ZERO)
            place += _ONE
            n_digits += 1
        exponent += -power if is_small else power
    if not is_exact or n_digits == 0 or abs(exponent) > EXACT_POWER:
        return value, place, _NO_NUMBER
    value = value * powers[exponent] if exponent > 0 else value / powers[-exponent]
    if value > _LARGEST or not is_end[content[place]]:
        return value, place, _NO_NUMBER
    return -value if is_negative else value, place, kind


@njit(error_model="numpy")
def _text(content, place, is_end, markers, ends, heads):
    """Return where a field ends, and its kind: -1 of one with space in front, which is no part."""
    stop, begin = place, np.int64(0)
    while not is_end[content[stop]]:
        stop += _ONE
    if content[place] == _SPACE or (content[place] == _TAB and stop > place):
        return stop, _NO_NUMBER
    if heads[content[place]]:
        length = np.int64(stop - place)
        for end in ends:
            step = np.int64(0)
            if end - begin == length:
                while step < length and content[place + np.uint64(step)] == markers[begin + step]:
                    step += 1
                if step == length:
                    return stop, GAPS
            begin = end
    return stop, WHOLE


@njit(error_model="numpy")
def read_fields(
    content,
    begin,
    marks,
    is_end,
    powers,
    markers,
    ends,
    heads,
    columns,
    n_markers,
    numbers,
    starts,
    stops,
    state,
):
    """Read the lines of a file from a place on, and return how many; -1 where any is odd.

    Parameters
    ----------
    content
        Bytes of a file that ends with a line end and holds no quotes.
    begin
        Where the first line begins.
    marks
        The delimiter and the decimal sign.
    is_end
        Which bytes end a field.
    powers
        Powers of ten.
    markers, ends
        Fields that stand for a missing value, one after the other, and where each ends.
    heads
        Which bytes they begin with; those that end a field do so for the empty one.
    columns
        For each column its row of `numbers`; of strings, ``-1 - row`` of `starts` and `stops`.
    n_markers
        How many of the markers hold in each column, the first.
    numbers
        Takes the numbers: a row for each column.
    starts, stops
        Take the places of strings; of missing ones ``starts`` takes -1.
    state
        Takes what there is in each column.
    """
    place, size, n_lines, last = np.uint64(begin), np.uint64(content.size), 0, columns.size - 1
    delimiter, point = np.uint8(marks[0]), np.uint8(marks[1])
    while place < size:
        if content[place] == _NEWLINE or content[place] == _RETURN:
            place += _ONE
            continue
        for column in range(columns.size):
            row, stop, kind, value = columns[column], place, _NO_NUMBER, np.nan
            if row >= 0:
                # A short number is read here: a call would cost more than the reading.
                is_negative, kind = content[place] == _MINUS, WHOLE
                stop += np.uint64(is_negative)
                first, digits, n_decimals = stop, np.int64(0), np.uint64(0)
                while _ZERO <= content[stop] <= _NINE:
                    digits = 10 * digits + (np.int64(content[stop]) - _ZERO)
                    stop += _ONE
                n_digits = stop - first
                if content[stop] == point:
                    kind = FRACTIONS
                    stop += _ONE
                    first = stop
                    while _ZERO <= content[stop] <= _NINE:
                        digits = 10 * digits + (np.int64(content[stop]) - _ZERO)
                        stop += _ONE
                    n_decimals = stop - first
                if 0 < n_digits + n_decimals <= _EXACT_DIGITS and is_end[content[stop]]:
                    # Both numbers are exact, so that their quotient is rounded once.
                    value = np.float64(digits) / powers[n_decimals]
                    value = -value if is_negative else value
                else:
                    value, stop, kind = _any_number(content, place, is_end, point, powers)
            if kind < 0:
                value = np.nan
                words = ends[: n_markers[column]]
                stop, kind = _text(content, place, is_end, markers, words, heads)
            if row < 0:
                starts[-1 - row, n_lines] = -1 if kind == GAPS else np.int64(place)
                stops[-1 - row, n_lines] = stop
            else:
                # Text among numbers is odd; a marker is none.
                kind = _NO_NUMBER if np.isnan(value) and kind == WHOLE else kind
                numbers[row, n_lines] = value
            if kind < 0 or (column == last) != (content[stop] != delimiter):
                return -1
            state[column] |= kind
            place = stop + _ONE
        n_lines += 1
    return n_lines


@njit(error_model="numpy")
def gather(content, starts, stops, offsets, letters):
    """Write strings one after the other, and where each begins, and return their length.

    Where it is more than `letters` takes, they are left alone.
    """
    total = np.int64(0)
    for row in range(starts.size):
        offsets[row] = total
        if starts[row] >= 0:
            if total + stops[row] - starts[row] <= letters.size:
                for step in range(stops[row] - starts[row]):
                    letters[total + step] = content[starts[row] + step]
            total += stops[row] - starts[row]
    offsets[starts.size] = total
    return total
