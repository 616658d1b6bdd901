"""Who answers Ctrl-C: a training that ends early and keeps its best, or the work around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Whether the training that runs is a part of something larger.
_IS_PART: ContextVar[bool] = ContextVar("training is a part", default=False)


@contextmanager
def whole_trainings() -> Iterator[None]:
    """Let Ctrl-C end the work of the block, and not one of its trainings alone.

    A network that somebody trains keeps its best weights when it is interrupted, and the program
    goes on. Inside a study or an ensemble the same would leave a half-trained member among whole
    ones, and the work would go on to the next. Works as a decorator, too.
    """
    token = _IS_PART.set(True)
    try:
        yield
    finally:
        _IS_PART.reset(token)


def may_end_early() -> bool:
    """Whether a training may answer Ctrl-C by itself, nothing larger being under way."""
    return not _IS_PART.get()
