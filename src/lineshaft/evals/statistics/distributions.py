"""Quantiles of the normal distribution and of Student's t."""

import math
from statistics import NormalDist

_STEPS = 200
_TINY = 1e-300
_CLOSE = 1e-15


def normal_quantile(probability: float) -> float:
    """Return the value below which a share of the standard normal distribution lies."""
    return NormalDist().inv_cdf(probability)


def student_quantile(probability: float, freedom: float) -> float:
    """Return the value below which a share of Student's t lies.

    Args:
        probability: Above 0.5 and below 1.
        freedom: Degrees of freedom, above 0; they need not be whole.
    """
    low, high = 0.0, 1.0
    while _student_share(high, freedom) < probability:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _student_share(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_share(value: float, freedom: float) -> float:
    """Return the share of Student's t below a value of at least 0."""
    return 1 - 0.5 * _beta_share(freedom / (freedom + value * value), freedom / 2, 0.5)


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a)
    scale = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / _kept_apart(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _kept_apart(1 + term * d)
            c = _kept_apart(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < _CLOSE:
            break
    return scale * fraction / a


def _kept_apart(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
