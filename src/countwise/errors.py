"""Errors that name the culprit and the way out.

Every error that a user's data or parameters can cause derives from :class:`CountwiseError` *and* from the
built-in class that scikit-learn's users expect, so that ``except ValueError`` keeps working.
"""

import math


class CountwiseError(Exception):
    """Base of the errors that countwise raises on purpose."""


class DataError(CountwiseError, ValueError):
    """The data cannot be used as they are: the message names the column or the rows."""


class ColumnTypeError(CountwiseError, TypeError):
    """A column has a type that is neither a category nor a number."""


class MemoryLimitError(CountwiseError, MemoryError):
    """The counts asked for would not fit into ``max_memory``."""


class ModelFileError(CountwiseError, ValueError):
    """A file is not a countwise model, or it is damaged or too new."""


def size_text(n_bytes: float) -> str:
    """A number of bytes as a message says it.

    >>> size_text(300), size_text(5_000_000), size_text(3 * 2**30)
    ('300 bytes', '4.77 MB', '3 GB')
    """
    if n_bytes < 2**10:
        return f"{n_bytes:.0f} bytes"
    power = min(int(math.log2(n_bytes)) // 10, 4)
    return f"{n_bytes / 2 ** (10 * power):.3g} {' KMGT'[power]}B"


def counted(n: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "data set"), counted(1200, "model")
    ('1 data set', '1,200 models')
    """
    return f"{n:,} {what}" + ("" if n == 1 else "s")
