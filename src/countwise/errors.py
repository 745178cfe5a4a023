"""Errors that name the culprit and the way out.

Every error that a user's data or parameters can cause derives from :class:`CountwiseError` *and* from the
built-in class that scikit-learn's users expect, so that ``except ValueError`` keeps working.
"""


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
