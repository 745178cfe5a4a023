"""Nodes of other libraries' trees as sets of rows, read from each library by another way than the package's."""

import json
import pathlib
import tempfile

import numpy as np


def paths_of_sklearn(trees, X):
    """For each tree, the rows at every node: ``decision_path``."""
    return [[np.flatnonzero(column) for column in tree.decision_path(X).toarray().T] for tree in trees]


def paths_from_parents(parents, leaf_names):
    """The rows at every node; ``parents`` has the node above by name, ``leaf_names`` the leaf of every row."""
    rows = {}
    for row, leaf in enumerate(leaf_names):
        name = leaf
        while name is not None:
            rows.setdefault(name, []).append(row)
            name = parents.get(name)
    return list(rows.values())


def paths_of_xgboost(model, X):
    frame = model.get_booster().trees_to_dataframe()
    leaves, trees = model.apply(X).astype(int), []
    for number in range(leaves.shape[1]):
        inner = frame[(frame["Tree"] == number) & (frame["Feature"] != "Leaf")]
        parents = {child: row.ID for row in inner.itertuples() for child in (row.Yes, row.No)}
        trees.append(paths_from_parents(parents, [f"{number}-{leaf}" for leaf in leaves[:, number]]))
    return trees


def paths_of_lightgbm(model, X):
    frame = model.booster_.trees_to_dataframe()
    leaves, trees = model.predict(X, pred_leaf=True), []
    for number in range(leaves.shape[1]):
        nodes = frame[frame["tree_index"] == number]
        parents = {row.node_index: row.parent_index for row in nodes.itertuples() if isinstance(row.parent_index, str)}
        trees.append(paths_from_parents(parents, [f"{number}-L{leaf}" for leaf in leaves[:, number]]))
    return trees


def paths_of_catboost(model, X):
    """Numbers only: the questions of the JSON model, asked one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.json")
        model.save_model(str(path), format="json")
        trees = json.loads(path.read_text())["oblivious_trees"]
    paths = []
    for tree in trees:
        answers = [np.float32(X[:, split["float_feature_index"]]) > split["border"] for split in tree["splits"]]
        said = [[""] * len(X)]
        for answer in answers:
            said.append([text + "ny"[int(yes)] for text, yes in zip(said[-1], answer, strict=True)])
        nodes = {}
        for level in said:
            for row, text in enumerate(level):
                nodes.setdefault(text, []).append(row)
        paths.append(list(nodes.values()))
    return paths
