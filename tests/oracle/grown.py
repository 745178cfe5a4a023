"""A table that trees are grown from, and the ways of its rows by the values themselves."""

import numpy as np
import pandas as pd


def frame(n_rows=300, seed=0):
    """Numbers and words that tell something about the class, with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    columns = {
        "size": np.where(rng.random(n_rows) < 0.1, np.nan, np.round(rng.normal(size=n_rows) + y, 2)),
        "age": np.round(rng.normal(size=n_rows) - y, 1),
        "word": np.where(rng.random(n_rows) < 0.5, y, rng.integers(4, size=n_rows)).astype(str).astype(object),
        "other": rng.choice(["u", "v", None], n_rows),
    }
    return pd.DataFrame(columns), np.array(["no", "maybe", "yes"], dtype=object)[y]


X, Y = frame()
NEW = frame(40, 1)[0].assign(word=["new", "1", None, "2"] * 10, age=[np.nan, 0.5] * 20)


def way_of(model, row):
    """Nodes from the root to where a row ends, by the values themselves."""
    node, way, tree = 0, [0], model.splits_
    while tree.column[node] >= 0:
        column = model.codec_.columns[tree.column[node]]
        value = row[column.name]
        gap = value is None or value != value
        if tree.threshold[node] >= 0:
            branch = 2 if gap else int(value > column.cuts[tree.threshold[node]])
        else:
            known = column.categories.to_pylist()
            branch = len(known) if gap else known.index(value) if value in known else -1
        if tree.threshold[node] == -2:  # two sets
            own = tree.sides[tree.side_ptr[node] : tree.side_ptr[node + 1]]
            branch = {s >> 1: s & 1 for s in own.tolist()}.get(branch, -1)
        children = [i for i in np.flatnonzero(tree.parent == node) if tree.branch[i] == branch]
        if not children:
            return way
        (node,) = children
        way.append(node)
    return way


def shares_of(model, row):
    """Nodes of a row and its shares in them, by the values themselves."""
    splits, total = model.splits_, model.tree_.total
    ends, waiting = {}, [(0, 1.0)]
    while waiting:
        node, share = waiting.pop()
        children = np.flatnonzero(splits.parent == node)
        if len(children) == 0:
            ends[node] = share
            continue
        column = model.codec_.columns[splits.column[node]]
        value = row[column.name]
        gap = value is None or value != value
        own = splits.sides_at(node).tolist()
        if splits.threshold[node] >= 0:
            branch = 2 if gap else int(value > column.cuts[splits.threshold[node]])
        else:
            known = column.categories.to_pylist()
            branch = len(known) if gap else known.index(value) if value in known else -1
            gap = gap or branch == -1
            if splits.threshold[node] == -2:
                branch = {s >> 1: s & 1 for s in own}.get(branch, -1)
        if gap and model.missing == "fractional":
            waiting += [(child, share * total[child] / total[children].sum()) for child in children]
            continue
        if splits.threshold[node] >= 0 and own and not gap and splits.branch[children[:2]].tolist() == [0, 1]:
            above = share * sum(value > column.cuts[cut] for cut in own) / 16
            if min(above, share - above) >= 1 / 256:
                waiting += [(children[0], share - above), (children[1], above)]
                continue
            branch = int(above > share - above)
        to = [child for child in children if splits.branch[child] == branch]
        waiting += [(child, share) for child in to]
        if not to:
            ends[node] = share
    return ends


def assert_same(a, b):
    assert a.codec_.same_as(b.codec_)
    assert np.array_equal(a.class_counts_, b.class_counts_)
    for s, t in zip(a.trees_, b.trees_, strict=True):
        assert s.splits.same_as(t.splits)
        for name in ("cell_ptr", "cell_value", "cell_count", "level_ptr"):
            assert np.array_equal(getattr(s.counts, name), getattr(t.counts, name)), name
    assert np.array_equal(a.predict_proba(NEW), b.predict_proba(NEW))
