"""Averaged one-dependence estimators, by counting rows for every probability."""


def m_estimate(count, total, n_values, m):
    return (count + m / n_values) / (total + m)


def aode_proba(rows, labels, row, n_values, classes, m, min_support):
    """P(class | row) with m-estimates; a context without rows takes the estimate of the one before it."""

    def count(**fixed):
        return sum(
            all(r[int(k[1:])] == v for k, v in fixed.items() if k != "y") and fixed.get("y", c) == c
            for r, c in zip(rows, labels, strict=True)
        )

    def given(i, y, parent=None):
        """P(x_i | y, parent's value)."""
        context = {"y": y} if parent is None else {"y": y, f"x{parent}": row[parent]}
        total = count(**context)
        if total == 0:
            assert parent is not None
            return given(i, y)
        return m_estimate(count(**context, **{f"x{i}": row[i]}), total, n_values[i], m)

    def joint(y, super_parent):
        p = m_estimate(count(y=y), len(rows), len(classes), m)
        for i in range(len(row)):
            p *= given(i, y, None if i == super_parent or super_parent is None else super_parent)
        return p

    chosen = [s for s in range(len(row)) if count(**{f"x{s}": row[s]}) >= min_support] or [None]
    sums = [sum(joint(y, s) for s in chosen) for y in classes]
    return [p / sum(sums) for p in sums]
