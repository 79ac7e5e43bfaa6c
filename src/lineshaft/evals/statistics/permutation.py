"""The exact permutation of the arms' labels within tasks."""

import math
from collections import defaultdict
from collections.abc import Sequence

from lineshaft.values import Struct


class Stratum(Struct, frozen=True):
    """One task: how many of its valid runs passed in each arm."""

    passes: int
    runs: int
    base_passes: int
    base_runs: int


def permutation_p(strata: Sequence[Stratum]) -> float:
    """Return the one-sided mid-p that the first arm passes as seldom as it did, by chance alone.

    Tasks weigh equally. Within each task the labels of the arms are permuted: the number of passes
    that fall to the first arm is hypergeometric, and the sum over tasks is their convolution. So
    the result is exact, and no random number is drawn.

    Args:
        strata: The tasks; one in which an arm has no valid run tells nothing.

    Returns:
        The chance of a smaller mean difference, and half of that of the same one; 0.5 where no
        label matters.
    """
    usable = [each for each in strata if each.runs and each.base_runs]
    unit = math.lcm(*(each.runs * each.base_runs for each in usable))
    chances: dict[int, float] = {0: 1.0}
    seen = 0
    for each in usable:
        passes = each.passes + each.base_passes
        step = unit // each.runs + unit // each.base_runs  # what one more pass moves
        whole = math.comb(each.runs + each.base_runs, passes)
        least, most = max(0, passes - each.base_runs), min(passes, each.runs)
        seen += each.passes * step
        following = defaultdict[int, float](float)
        for own in range(least, most + 1):
            share = math.comb(each.runs, own) * math.comb(each.base_runs, passes - own) / whole
            for at, chance in chances.items():
                following[at + own * step] += chance * share
        chances = following
    lower = sum(chance for at, chance in chances.items() if at < seen)
    return min(lower + 0.5 * chances[seen], 1.0)
