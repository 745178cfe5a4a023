"""Probability trees as text, and as a table of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from countwise.data.codec import Codec, NumberCodec
from countwise.dtypes import FloatArray
from countwise.errors import DataError
from countwise.estimators.trees import TreeClassifier
from countwise.tree.splits import MISSING, SplitTable

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN_CLASSES = 4  # of a node, the most probable ones


def export_text(model: TreeClassifier, tree: int = 0, max_depth: int | None = None) -> str:
    """A probability tree as text: a line for each node, with its rows and the probabilities of its classes.

    Behind a soft threshold stands the range in which it lies with a probability of 7/8, if that is one.

    Parameters
    ----------
    model : ProbabilityTreeClassifier or ProbabilityForestClassifier
        Fitted.
    tree : int
        Which tree of a forest.
    max_depth : int or None
        Leave out what is deeper.

    Examples
    --------
    >>> import countwise as cw
    >>> X, y = cw.datasets.load("iris")
    >>> model = cw.ProbabilityTreeClassifier(max_depth=2, smoothing="m-branch").fit(X, y)
    >>> print(cw.export_text(model))
    all: 150 rows, setosa 0.33, versicolor 0.33, virginica 0.33
    |-- petal width (cm) <= 0.8: 50 rows, setosa 0.95, versicolor 0.02, virginica 0.02
    |-- petal width (cm) > 0.8: 100 rows, versicolor 0.46, virginica 0.46, setosa 0.07
    |   |-- petal width (cm) <= 1.75 (1.65 to 1.75): 54 rows, versicolor 0.88, virginica 0.12, setosa 0.01
    |   |-- petal width (cm) > 1.75 (1.65 to 1.75): 46 rows, virginica 0.94, versicolor 0.06, setosa 0.01

    """
    own, proba = tree_of(model, tree)
    lines = []
    for node, depth in in_order(own.splits, max_depth):
        indent = "|   " * (depth - 1) + "|-- " * (depth > 0)
        best = sorted(range(len(proba[node])), key=lambda y: -proba[node, y])
        shown = ", ".join(f"{model.classes_[y]} {proba[node, y]:.2f}" for y in best[:SHOWN_CLASSES])
        rest = ", ..." if len(best) > SHOWN_CLASSES else ""
        what = condition(model.codec_, own.splits, node, ranges=True) if node else "all"
        lines.append(f"{indent}{what}: {round(float(own.counts.total[node]), 2):,.10g} rows, {shown}{rest}")
    return "\n".join(lines)


def in_order(splits: SplitTable, max_depth: int | None = None) -> list[tuple[int, int]]:
    """Nodes and their depths, each node before its children and those before its next sibling."""
    found, waiting = [], [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        found.append((node, depth))
        if max_depth is None or depth < max_depth:
            children = range(*splits.first_child[node : node + 2])
            waiting += [(child, depth + 1) for child in reversed(children)]
    return found


def rules(model: TreeClassifier, tree: int = 0) -> pa.Table:
    """The leaves of a probability tree, most rows first: the conditions on the way, rows, and class probabilities.

    Rows near a soft threshold are between leaves, and so are their probabilities.

    >>> import countwise as cw
    >>> X, y = cw.datasets.load("iris")
    >>> table = cw.rules(cw.ProbabilityTreeClassifier(max_depth=2).fit(X, y))
    >>> table.column_names
    ['rule', 'rows', 'prediction', 'p_setosa', 'p_versicolor', 'p_virginica']
    >>> table["rule"].to_pylist()[0]
    'petal width (cm) > 0.8 and petal width (cm) <= 1.75'
    """
    import pyarrow as pa

    own, proba = tree_of(model, tree)
    leaves = np.flatnonzero(own.splits.is_leaf)
    leaves = leaves[np.argsort(-own.counts.total[leaves], kind="stable")]
    texts = {0: ""}
    for node in range(1, own.counts.n_nodes):  # level order: a parent comes first
        above = texts[int(own.splits.parent[node])]
        texts[node] = f"{above} and {condition(model.codec_, own.splits, node)}".removeprefix(" and ")
    columns: dict[str, Any] = {
        "rule": [texts[node] or "all" for node in leaves.tolist()],
        "rows": own.counts.total[leaves],
        "prediction": [str(model.classes_[y]) for y in np.argmax(proba[leaves], axis=1)],
    }
    return pa.table(columns | {f"p_{label}": proba[leaves, y] for y, label in enumerate(model.classes_)})


def condition(codec: Codec, splits: SplitTable, node: int, ranges: bool = False) -> str:
    """What a row has to fulfil to come from a node's parent to it; with ``ranges`` also where a threshold may lie."""
    above, branch = int(splits.parent[node]), int(splits.branch[node])
    column = codec.columns[int(splits.column[above])]
    if not isinstance(column, NumberCodec):
        codes = splits.codes_of(node)
        if len(codes) == 1:
            return f"{column.name} = {column.labels[int(codes[0])]}"
        return f"{column.name} in {{{', '.join(column.labels[int(code)] for code in codes)}}}"
    if branch == MISSING:
        return f"{column.name} = (missing)"
    text = f"{column.name} {'>' if branch else '<='} {column.edges[int(splits.threshold[above])]}"
    low, high = splits.sides_at(above)[[1, -2]] if ranges and splits.is_soft(above) else (-1, -1)  # 7/8 of them
    return text if low == high else f"{text} ({column.edges[int(low)]} to {column.edges[int(high)]})"


def tree_of(model: TreeClassifier, tree: int) -> tuple[Any, FloatArray]:
    """The tree, and the probabilities of all its nodes."""
    if not isinstance(model, TreeClassifier):
        raise DataError(f"{type(model).__name__} is not a classifier of grown trees")
    check_is_fitted(model, "codec_")
    if not 0 <= tree < len(model.trees_):
        raise DataError(f"tree={tree!r}: the model has {len(model.trees_)} tree(s), counted from 0")
    own = model.trees_[tree]
    return own, model._compiled.node_proba(tree, np.arange(own.counts.n_nodes, dtype=np.int32))
