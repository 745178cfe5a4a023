"""C4.5 growth from the definitions, row by row: the slow twin of the kernel. Also categories in two sets."""

import itertools
from collections import Counter
from math import exp, log, log2

import numpy as np

SAME = 1e-9


def impurity(counts, criterion):
    total = sum(counts.values())
    shares = [w / total for w in counts.values() if w > 0]
    if criterion == "gini":
        return 1 - sum(p * p for p in shares)
    return -sum(p * log2(p) for p in shares)


def weigh(rows, y, w):
    counts = Counter()
    for r in rows:
        counts[int(y[r])] += float(w[r])
    return counts


def split_by(rows, codes, n_values, threshold, sides=None):
    """Branches of the rows: a code each for a category, or its side; 0, 1 and 2 (missing) for a number."""
    branches = {}
    for r in rows:
        code = int(codes[r])
        name = code if n_values == 0 else 2 if code >= n_values else int(code > threshold)
        name = sides[code] if sides else name
        branches.setdefault(name, []).append(r)
    return dict(sorted(branches.items()))


def gain_of(rows, branches, y, w, criterion):
    total = sum(weigh(rows, y, w).values())
    after = 0.0
    for own in branches.values():
        counts = weigh(own, y, w)
        after += sum(counts.values()) / total * impurity(counts, criterion)
    return impurity(weigh(rows, y, w), criterion) - after


def enough(branches, w, min_leaf):
    return sum(sum(w[r] for r in own) >= min_leaf * (1 - SAME) for own in branches.values()) >= 2


def likely_thresholds(rows, codes, n_values, y, w, min_leaf, chosen):
    """(low, high) of 16 thresholds, equally likely by the classes on both sides and near the chosen one.

    Half of the log-likelihood by the frequencies of each side; before, the odds fall by e with every fifth of the rows
    in between. None is more likely than those
    between it and the chosen one. Nothing where they are all the same.
    """
    rows = [r for r in rows if codes[r] < n_values]
    present = sorted({int(codes[r]) for r in rows})
    weight = sum(w[r] for r in rows)
    found = []
    for low, above in itertools.pairwise(present):
        branches = split_by(rows, codes, n_values, low)
        sides = [weigh(own, y, w) for own in branches.values()]
        if min(sum(side.values()) for side in sides) < min_leaf * (1 - SAME):
            continue
        evidence = sum(n * log(n / sum(side.values())) for side in sides for n in side.values())
        between = sum(w[r] for r in rows if min(low, chosen) < codes[r] <= max(low, chosen))
        found.append((low, above - 1, evidence / 2, between / (weight / 5)))
    top = max(evidence for _, _, evidence, _ in found)
    own = [exp(evidence - top - far) for _, _, evidence, far in found]
    centre = [low for low, _, _, _ in found].index(chosen)
    mass = np.cumsum([min(own[min(i, centre) : max(i, centre) + 1]) for i in range(len(own))])
    likely = [found[int(np.searchsorted(mass, mass[-1] * (q + 0.5) / 16))][:2] for q in range(16)]
    return likely if likely[0] != likely[-1] else []


def candidate_sides(rows, codes, y, w):
    """Cuts of the categories in the order of their class shares, along the main direction of more than two classes."""
    present, classes = sorted({int(codes[r]) for r in rows}), sorted({int(y[r]) for r in rows})
    counts = [weigh([r for r in rows if codes[r] == code], y, w) for code in present]
    weight = np.array([sum(c.values()) for c in counts])
    share = np.array([[c[k] for k in classes] for c in counts]) / weight[:, None]
    centred = share - weight @ share / weight.sum()
    main = np.linalg.eigh((centred * weight[:, None]).T @ centred)[1][:, -1]
    order = sorted(range(len(present)), key=lambda i: centred[i] @ main)
    return [named(present, [present[i] for i in order[:n]]) for n in range(1, len(present))]


def all_sides(rows, codes):
    """Every way to divide the categories in two."""
    present = sorted({int(codes[r]) for r in rows})
    sizes = range(1, len(present))
    return [named(present, some) for n in sizes for some in itertools.combinations(present, n) if present[0] in some]


def named(present, some):
    """Side of each code; the least code is on side 0."""
    return {code: int((code in some) != (present[0] in some)) for code in present}


def best_subset(rows, codes, y, w, criterion, min_leaf, candidates):
    best = (0.0, None)
    for sides in candidates:
        branches = split_by(rows, codes, 0, None, sides)
        gain = gain_of(rows, branches, y, w, criterion)
        if enough(branches, w, min_leaf) and gain > best[0] + SAME:
            best = (gain, sides)
    return best


def subset_of_column(rows, codes, y, w, criterion, min_leaf):
    total, n_codes = sum(w[r] for r in rows), len({int(codes[r]) for r in rows})
    gain, sides = best_subset(rows, codes, y, w, criterion, min_leaf, candidate_sides(rows, codes, y, w))
    if sides is None:
        return None
    gain -= log2(2 ** (n_codes - 1) - 1) / total if criterion != "gini" else 0.0
    shares = [sum(w[r] for r in own) / total for own in split_by(rows, codes, 0, None, sides).values()]
    return (gain, -sum(p * log2(p) for p in shares), -2, -2, sides) if gain > SAME else None


def best_of_column(rows, codes, n_values, y, w, criterion, min_leaf):
    """(gain less what the threshold costs, split information, low, high) or None."""
    total = sum(w[r] for r in rows)
    if n_values == 0:
        branches = split_by(rows, codes, 0, None)
        best = (gain_of(rows, branches, y, w, criterion), branches, -1, -1)
        if len(branches) < 2 or not enough(branches, w, min_leaf) or best[0] <= SAME:
            return None
        cost = 0.0
    else:
        known = sorted({int(codes[r]) for r in rows if codes[r] < n_values})
        best = (SAME * 0, None, -1, -1)
        for low, following in itertools.pairwise(known):
            branches = split_by(rows, codes, n_values, low)
            if not enough({b: branches[b] for b in (0, 1)}, w, min_leaf):
                continue
            gain = gain_of(rows, branches, y, w, criterion)
            if gain > best[0] + SAME:
                best = (gain, branches, low, following - 1)
        if best[1] is None:
            return None
        cost = log2(len(known) - 1) / total if criterion == "gain_ratio" else 0.0
    shares = [sum(w[r] for r in own) / total for own in best[1].values()]
    gain = best[0] - cost
    return (gain, -sum(p * log2(p) for p in shares), best[2], best[3]) if gain > SAME else None


def known_of_column(rows, codes, n_known, find, w):
    """The best split of the rows whose value is known, as part of all; missing is a branch of its information."""
    known = [r for r in rows if codes[r] < n_known]
    total, part = sum(w[r] for r in rows), sum(w[r] for r in known)
    one = find(known) if known else None
    if one is None:
        return None
    parts = [p for p in (part / total, 1 - part / total) if p > 1e-12]
    info = one[1] * part / total - sum(p * log2(p) for p in parts)
    return (one[0] * part / total, info, *one[2:])


def best_split(rows, columns, n_values, y, w, criterion, min_leaf, binary=False, n_known=None):
    found = {}
    for i, codes in enumerate(columns):

        def find(own, i=i, codes=codes):
            if binary and n_values[i] == 0:
                return subset_of_column(own, codes, y, w, criterion, min_leaf)
            return best_of_column(own, codes, n_values[i], y, w, criterion, min_leaf)

        one = find(rows) if n_known is None else known_of_column(rows, codes, n_known[i], find, w)
        if one is not None:
            found[i] = one
    if not found:
        return None
    score = {i: gain for i, (gain, *_) in found.items()}
    if criterion == "gain_ratio":
        average = sum(score.values()) / len(score)
        score = {i: found[i][0] / found[i][1] for i in found if found[i][0] >= average - SAME}
    best, best_score = None, 0.0
    for i in sorted(score):
        if score[i] > best_score + SAME:
            best, best_score = i, score[i]
    return (
        None
        if best is None
        else (best, found[best][2], found[best][3], found[best][4] if len(found[best]) > 4 else None)
    )


def grow(
    columns, n_values, y, w, criterion="gain_ratio", min_leaf=2, max_depth=None, binary=False, n_known=None, soft=False
):
    """Nodes in level order: (parent, branch, column, low, high, class counts, sides).

    Sides are those of the codes of two sets; with ``soft`` the likely thresholds of numbers, low and high of each.

    With ``n_known``, rows of greater codes take all branches, with shares of their weight.
    """
    nodes = []
    level = [(-1, -1, list(range(len(y))), np.array(w, float))]
    depth = 0
    while level:
        below = []
        for parent, branch, rows, w in level:
            counts = weigh(rows, y, w)
            split = None
            if len(counts) > 1 and (max_depth is None or depth < max_depth):
                split = best_split(rows, columns, n_values, y, w, criterion, min_leaf, binary, n_known)
            column, low, high, sides = split or (-1, -1, -1, None)
            own_sides = [2 * code + side for code, side in sorted((sides or {}).items())]
            if soft and split and n_values[column] and criterion != "gini":
                likely = likely_thresholds(rows, columns[column], n_values[column], y, w, min_leaf, low)
                own_sides = [code for pair in likely for code in pair]
            nodes.append((parent, branch, column, low, high, dict(sorted(counts.items())), own_sides))
            if split:
                codes = columns[column]
                gaps = [r for r in rows if n_known is not None and codes[r] >= n_known[column]]
                branches = split_by([r for r in rows if r not in set(gaps)], codes, n_values[column], low, sides)
                known = sum(w[r] for own in branches.values() for r in own)
                for name, own in branches.items():
                    shared = w.copy()
                    shared[gaps] *= sum(w[r] for r in own) / known
                    below.append((len(nodes) - 1, name, sorted(own + gaps), shared))
        level, depth = below, depth + 1
    return nodes
