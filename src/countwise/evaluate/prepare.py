"""What may be done to a whole table before it is split: nothing, as a rule.

Cut points that were learned on the whole table have seen the test rows. The papers differ in this, so both ways are
here: ``none`` leaves numbers to the models, which discretise inside the training fold; ``discretised`` cuts by MDLP on
the whole table (paper 004, section 4.3.8); ``imputed-quintiles`` fills gaps by medians and modes and cuts numbers into
five bins of equal frequency (paper 003, section 4.1).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import narwhals as nw
import numpy as np
import numpy.typing as npt

from countwise.data.discretise import MDLP, Discretiser, EqualFrequency

Codes = npt.NDArray[np.int64]
QUINTILES: Final = 5


def untouched(X: Any, codes: Codes) -> Any:
    """The table as it is."""
    return X


def discretised(X: Any, codes: Codes) -> Any:
    """Numbers as the names of their MDLP bins; missing values stay missing.

    >>> import pyarrow as pa
    >>> discretised(pa.table({"x": [1.0, 2.0, None, 8.0, 9.0] * 9}), np.array([0, 0, 0, 1, 1] * 9))["x"].to_pylist()[:5]
    ['b0', 'b0', None, 'b1', 'b1']
    """
    return _binned(X, codes, MDLP())


def imputed_quintiles(X: Any, codes: Codes) -> Any:
    """No gaps, and numbers as the names of five bins of equal frequency.

    >>> import pyarrow as pa
    >>> table = pa.table({"x": [1.0, 2.0, None, 8.0, 9.0], "c": ["u", "v", "v", None, "v"]})
    >>> imputed_quintiles(table, np.zeros(5, int)).to_pydict()
    {'x': ['b0', 'b1', 'b2', 'b3', 'b4'], 'c': ['u', 'v', 'v', 'v', 'v']}
    """
    frame = _frame(X)
    filled = []
    for name, dtype in frame.schema.items():
        column = frame[name]
        if column.null_count() == len(column):
            continue  # nothing is known about it
        if dtype.is_numeric():
            numbers = column.cast(nw.Float64).fill_nan(None)
            filled.append(numbers.fill_null(numbers.median()))
        else:
            text = column.cast(nw.String)
            filled.append(text.fill_null(sorted(text.drop_nulls().mode().to_list())[0]))
    return _binned(frame.select(*filled).to_native(), codes, EqualFrequency(QUINTILES))


def _binned(X: Any, codes: Codes, discretiser: Discretiser) -> Any:
    frame = _frame(X)
    numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    if not numeric:
        return X
    columns = [frame[name].cast(nw.Float64).fill_null(float("nan")).to_numpy() for name in numeric]
    bins = discretiser.fit(np.column_stack(columns), codes).transform(np.column_stack(columns))
    replaced = {}
    for name, own, n_bins in zip(numeric, bins.T, discretiser.n_bins_, strict=True):
        values = [*(f"b{b}" for b in range(int(n_bins))), None]  # a missing value has the code n_bins
        replaced[name] = nw.new_series(
            name, [values[code] for code in own.tolist()], nw.String, backend=frame.implementation
        )
    return frame.with_columns(**replaced).to_native()


def _frame(X: Any) -> nw.DataFrame[Any]:
    """Any table as a narwhals frame; a matrix gets the columns x0, x1, ..."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    import pyarrow as pa

    matrix = np.asarray(X, dtype=np.float64)
    return nw.from_native(pa.table({f"x{j}": matrix[:, j] for j in range(matrix.shape[1])}), eager_only=True)


PREPARATIONS: Final[Mapping[str, Callable[[Any, Codes], Any]]] = {
    "none": untouched,
    "discretised": discretised,
    "imputed-quintiles": imputed_quintiles,
}
