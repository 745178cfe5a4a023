"""Trees of XGBoost, from its JSON model: every round has one for each class, or one for all."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from countwise.dtypes import AnyArray
from countwise.errors import DataError
from countwise.estimators.foreign.partition import Partition, Reader, numbered_by_node


def partitions(model: Any) -> list[Partition]:
    """All trees of the model, those after the best round too; rows are given the leaves of the first ones."""
    booster = json.loads(model.get_booster().save_raw("json"))["learner"]["gradient_booster"]
    if booster["name"] == "gblinear":
        raise DataError(f"{type(model).__name__}(booster='gblinear') has no trees; use booster='gbtree' or 'dart'")
    trees = booster.get("gbtree", booster)["model"]["trees"]  # dart keeps its trees one level down
    return [numbered_by_node(np.array(tree["left_children"]), np.array(tree["right_children"])) for tree in trees]


def leaves(model: Any, X: Any) -> AnyArray:
    """Node numbers, rows x trees up to the best round."""
    nodes = np.asarray(model.apply(X))
    return nodes.reshape(len(nodes), -1).astype(np.int64)


READER = Reader(partitions, leaves, takes_codes=True)
