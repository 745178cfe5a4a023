"""Structure learners: information measures in, :class:`Structure` out."""

from countwise.structure.kdb import information_order, kdb
from countwise.structure.naive import naive
from countwise.structure.skdb import LOSSES, LossName, Selection, select
from countwise.structure.structure import Structure, check_order, given_structure
from countwise.structure.tan import tan

__all__ = [
    "LOSSES",
    "LossName",
    "Selection",
    "Structure",
    "check_order",
    "given_structure",
    "information_order",
    "kdb",
    "naive",
    "select",
    "tan",
]
