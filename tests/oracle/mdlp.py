"""Slow, obvious twins of the entropy cut searches: every midpoint of distinct values is a candidate."""

from itertools import pairwise
from math import log2

import numpy as np

TIE = 1e-9  # of total bits: closer scores are equal, and the lowest cut wins


def entropy_bits(counts):
    """Total weight times entropy."""
    total = counts.sum()
    return sum(-c * log2(c / total) for c in counts if c > 0)


def mdl_excess(left, right):
    """Gain less threshold of Fayyad and Irani's criterion, eq. 37 and 38 of paper 004, times N."""
    whole = left + right
    n = whole.sum()
    k, k1, k2 = ((part > 0).sum() for part in (whole, left, right))
    ent, ent1, ent2 = (entropy_bits(part) / part.sum() for part in (whole, left, right))
    gain = n * ent - left.sum() * ent1 - right.sum() * ent2
    delta = log2(3 ** int(k) - 2) - (k * ent - k1 * ent1 - k2 * ent2)
    return gain - log2(max(n - 1, 1)) - delta


def passes_mdl(left, right):
    return mdl_excess(left, right) > 0


def best_cut(values, classes, weights, min_weight=0.0):
    """(cut, left counts, right counts) of the greatest gain, or None if no cut gains anything."""
    n_classes = classes.max() + 1
    whole = np.bincount(classes, weights, n_classes)
    best, least = None, entropy_bits(whole)
    distinct = np.unique(values)
    for lo, hi in pairwise(distinct):
        left = np.bincount(classes[values <= lo], weights[values <= lo], n_classes)
        right = np.bincount(classes[values > lo], weights[values > lo], n_classes)
        bits = entropy_bits(left) + entropy_bits(right)
        if min(left.sum(), right.sum()) >= min_weight and bits < least - TIE:
            best, least = ((lo + hi) / 2, left, right), bits
    return best


def _halves(values, classes, weights, cut):
    return [(values[side], classes[side], weights[side]) for side in (values <= cut, values > cut)]


def _rows(values, classes, weights):
    values, classes = np.asarray(values, dtype=float), np.asarray(classes)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    return values[weights > 0], classes[weights > 0], weights[weights > 0]


def mdlp_cuts(values, classes, weights=None):
    values, classes, weights = _rows(values, classes, weights)
    found = best_cut(values, classes, weights) if len(values) else None
    if found is None or not passes_mdl(*found[1:]):
        return []
    low, high = _halves(values, classes, weights, found[0])
    return [*mdlp_cuts(*low), found[0], *mdlp_cuts(*high)]


def tree_cuts(values, classes, weights, max_depth, min_weight, prune):
    values, classes, weights = _rows(values, classes, weights)
    found = best_cut(values, classes, weights, min_weight) if len(values) and max_depth else None
    if found is None:
        return []
    low, high = (
        tree_cuts(*half, max_depth - 1, min_weight, prune) for half in _halves(values, classes, weights, found[0])
    )
    keep = not prune or low or high or passes_mdl(*found[1:])
    return [*low, found[0], *high] if keep else []


def cut_chances(values, classes, weights=None, first=True):
    """{cut: probability} of the one cut that Algorithm 11 of paper 004 draws of these rows; {} if it draws none."""
    values, classes, weights = _rows(values, classes, weights)
    excess, gain = {}, {}
    for lo, hi in pairwise(np.unique(values)):
        left, right = (np.bincount(classes[s], weights[s], max(classes) + 1) for s in (values <= lo, values > lo))
        excess[(lo + hi) / 2] = max(mdl_excess(left, right), 0.0)
        saved = entropy_bits(left + right) - entropy_bits(left) - entropy_bits(right)
        gain[(lo + hi) / 2] = saved if saved > TIE else 0.0
    worth = excess if sum(excess.values()) > 0 else gain if first else {}
    return {cut: w / sum(worth.values()) for cut, w in worth.items() if w > 0}


def chance_of(cuts, values, classes, weights=None, first=True):
    """The probability that Algorithm 11 ends with exactly these cuts, whichever of them was drawn first."""
    values, classes, weights = _rows(values, classes, weights)
    chances = cut_chances(values, classes, weights, first) if len(values) else {}
    if not cuts:
        return 0.0 if chances else 1.0
    total = 0.0
    for cut in cuts:
        low, high = _halves(values, classes, weights, cut)
        below, above = [c for c in cuts if c < cut], [c for c in cuts if c > cut]
        pays = first is False or _pays(values, classes, weights)
        rest = chance_of(below, *low, False) * chance_of(above, *high, False) if pays else float(not below + above)
        total += chances.get(cut, 0.0) * rest
    return total


def _pays(values, classes, weights):
    return bool(cut_chances(values, classes, weights, first=False))
