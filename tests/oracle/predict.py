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


def scores(terms, prior, row, arity, tuning):
    """Of every class, tuned: ``log P(y) + bias_y + temperature * sum_i weight_i log P(x_i | y, parents)``."""
    out = []
    for label, p in enumerate(prior):
        evidence = 0.0
        for family, proba in terms:
            weight = 1.0 if tuning.weight is None else tuning.weight[family.child]
            if weight != 0:
                evidence += weight * contribution(family, proba, label, row, arity)
        out.append(np.log(p) + tuning.bias[label] + tuning.temperature * evidence)
    return np.array(out)


def posterior(terms, prior, row, arity):
    joint = log_joint(terms, prior, row, arity)
    p = np.exp(joint - joint.max())
    return p / p.sum()
