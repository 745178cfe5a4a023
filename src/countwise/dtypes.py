"""Every array type with its reason, in one place."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]  # node and cell ids: a tree is refused before it has 2^31 cells
OffsetArray = npt.NDArray[np.int64]  # offsets into arrays that may pass 2^31 entries
CodeArray = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
AnyArray = npt.NDArray[Any]

FLOAT: Final = np.dtype(np.float64)
INT: Final = np.dtype(np.int32)

MAX_ARITY: Final = 2**31 - 2  # values of one column, one code more for "unseen"


def code_dtype(arity: int) -> np.dtype[Any]:
    """The narrowest unsigned type for the codes ``0 .. arity``; code ``arity`` means *unseen*.

    >>> code_dtype(255), code_dtype(256)
    (dtype('uint8'), dtype('uint16'))
    """
    if arity <= 0xFF:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16) if arity <= 0xFFFF else np.dtype(np.uint32)
