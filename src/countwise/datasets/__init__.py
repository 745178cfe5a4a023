"""Benchmark data that are computed, not downloaded.

Loaders (``load_*``) give a fixed table, generators (``make_*``, ``sample_network``) any number of rows from a
seed. Each returns a :class:`Dataset`, so ``X, y = load_tic_tac_toe()`` is ready for ``fit``.

>>> from countwise import datasets
>>> X, y = datasets.load("tic-tac-toe")
>>> X.column_names[0], y[0]
('top-left-square', np.str_('positive'))
"""

from countwise.datasets.chess import load_kr_vs_k
from countwise.datasets.dataset import Dataset
from countwise.datasets.folder import Folder, load_folder
from countwise.datasets.network import Network, random_network, sample_network
from countwise.datasets.poker import HAND_NAMES, hand_class, make_poker
from countwise.datasets.registry import DATASETS, load
from countwise.datasets.synthetic import make_led, make_waveform
from countwise.datasets.toy import load_balance_scale, load_monks, load_tic_tac_toe
from countwise.datasets.unknown import UnknownDatasetError
from countwise.datasets.wrapped import load_sklearn

__all__ = [
    "DATASETS",
    "HAND_NAMES",
    "Dataset",
    "Folder",
    "Network",
    "UnknownDatasetError",
    "hand_class",
    "load",
    "load_balance_scale",
    "load_folder",
    "load_kr_vs_k",
    "load_monks",
    "load_sklearn",
    "load_tic_tac_toe",
    "make_led",
    "make_poker",
    "make_waveform",
    "random_network",
    "sample_network",
]
