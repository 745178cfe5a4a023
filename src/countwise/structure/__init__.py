"""Structure learners: information measures in, :class:`Structure` out."""

from countwise.structure.ande import one_super_parent, two_super_parents
from countwise.structure.kdb import information_order, kdb
from countwise.structure.kdf import kdf
from countwise.structure.naive import naive
from countwise.structure.orders import sampled_order, shuffled_parents
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
    "kdf",
    "naive",
    "one_super_parent",
    "sampled_order",
    "select",
    "shuffled_parents",
    "tan",
    "two_super_parents",
]
