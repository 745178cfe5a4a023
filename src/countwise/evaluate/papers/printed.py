"""Figures as the papers print them, by measure."""


def wdl(zero_one: str, rmse: str) -> dict[str, str]:
    """Wins-draws-losses.

    >>> wdl("41-4-23", "40-0-28")
    {'zero_one_loss': '41-4-23', 'rmse': '40-0-28'}
    """
    return {"zero_one_loss": zero_one, "rmse": rmse}


def mean(rmse: float, zero_one: float) -> dict[str, float]:
    """Means over data sets.

    >>> mean(0.2314, 0.1563)
    {'zero_one_loss': 0.1563, 'rmse': 0.2314}
    """
    return {"zero_one_loss": zero_one, "rmse": rmse}
