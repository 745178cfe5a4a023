"""Prediction row by row, each class walking its own branch of every tree."""

import numpy as np


def context_of(proba, label, codes):
    """The deepest path that exists among (), (label,), (label, codes[0]), ..."""
    path = ()
    for code in (label, *codes):
        if (*path, code) not in proba:
            break
        path = (*path, code)
    return path


def contribution(family, proba, label, row, arity):
    """Log P(value | class, parents), 0 for a value that training never met."""
    value = row[family.child]
    if value >= arity[family.child]:
        return 0.0
    path = context_of(proba, label, [row[i] for i in family.parents])
    return np.log(proba[path][value])


def log_joint(terms, prior, row, arity):
    """Of every class; ``terms`` are pairs of a family and its {path: [probability of every value]}."""
    return np.array(
        [
            np.log(p) + sum(contribution(family, proba, label, row, arity) for family, proba in terms)
            for label, p in enumerate(prior)
        ]
    )


def posterior(terms, prior, row, arity):
    joint = log_joint(terms, prior, row, arity)
    p = np.exp(joint - joint.max())
    return p / p.sum()
