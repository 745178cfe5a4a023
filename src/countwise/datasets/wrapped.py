"""The classification data that come with scikit-learn, as data sets."""

from __future__ import annotations

from typing import Final

import numpy as np

from countwise.datasets.dataset import Dataset, table
from countwise.datasets.unknown import unknown_dataset

SOURCES: Final = {
    "iris": "Iris flowers, Fisher, 1936",
    "wine": "Wine recognition, Aeberhard and Forina, UCI Machine Learning Repository, 1992",
    "breast_cancer": "Breast Cancer Wisconsin (Diagnostic), Wolberg et al., UCI, 1995",
    "digits": "The test part of Optical Recognition of Handwritten Digits, Alpaydin and Kaynak, UCI, 1998",
}


def load_sklearn(name: str) -> Dataset:
    """A data set that is installed with scikit-learn: ``iris``, ``wine``, ``breast_cancer`` or ``digits``.

    All attributes are numbers: floats, and integers for the pixels of ``digits``.

    Examples
    --------
    >>> load_sklearn("iris")
    iris: 150 rows, 4 attributes, 3 classes
    >>> load_sklearn("digits")
    digits: 1,797 rows, 64 attributes, 10 classes

    """
    from sklearn import datasets

    if name not in SOURCES:
        raise unknown_dataset(name, SOURCES, "scikit-learn's installed data")
    bunch = getattr(datasets, f"load_{name}")()
    values = bunch.data.astype(np.int32) if name == "digits" else bunch.data
    return Dataset(
        name=name,
        X=table({str(column): np.ascontiguousarray(values[:, i]) for i, column in enumerate(bunch.feature_names)}),
        y=bunch.target_names.astype(np.str_)[bunch.target],
        description=f"{SOURCES[name]}; as installed with scikit-learn.",
    )
