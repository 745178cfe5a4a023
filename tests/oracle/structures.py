"""Structures by brute force."""

from itertools import combinations


def spanning_trees(n):
    """Every spanning tree of n nodes, as a tuple of edges (i, j), i < j."""
    for edges in combinations(list(combinations(range(n), 2)), n - 1):
        group = list(range(n))
        for i, j in edges:
            a, b = group[i], group[j]
            if a == b:
                break
            group = [a if g == b else g for g in group]
        else:
            yield edges


def best_tree_weight(weight):
    """The greatest total weight of a spanning tree, by trying them all."""
    return max(sum(weight[i, j] for i, j in edges) for edges in spanning_trees(len(weight)))


def kruskal_weight(weight):
    """The same, by the greatest edges that close no circle."""
    n, total = len(weight), 0.0
    group = list(range(n))
    for i, j in sorted(combinations(range(n), 2), key=lambda edge: -weight[edge]):
        if group[i] != group[j]:
            a, b = group[i], group[j]
            group = [a if g == b else g for g in group]
            total += weight[i, j]
    return total


def kdb_parents(order, weight, k):
    """{attribute: its parents}, the strongest first; ties to the earlier in the order."""
    parents = {}
    for position, child in enumerate(order):
        ranked = sorted(range(position), key=lambda p: (-weight[child, order[p]], p))
        parents[child] = tuple(order[p] for p in ranked[:k])
    return parents
