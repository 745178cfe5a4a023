from countwise.dtypes import FloatArray, IntArray

def mdlp_cuts(
    values: FloatArray, classes: IntArray, weights: FloatArray | None, n_classes: int
) -> FloatArray: ...
def tree_cuts(
    values: FloatArray,
    classes: IntArray,
    weights: FloatArray | None,
    n_classes: int,
    max_depth: int,
    min_weight: float,
    prune: bool,
) -> FloatArray: ...
