"""A Bayesian network's joint probability, one row and one factor at a time."""


def joint(network, row, label):
    """``P(y = label, x = row)``."""
    proba = float(network.class_prior[label])
    for i, cpt in enumerate(network.tables):
        cell = cpt[label]
        for parent in network.parents[i]:
            cell = cell[row[parent]]
        proba *= float(cell[row[i]])
    return proba
