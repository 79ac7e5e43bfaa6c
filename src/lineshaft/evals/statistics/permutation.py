"""The exact permutation of the arms' labels within tasks."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from lineshaft.values import Struct

_MOST_SUMS = 5_000
"""Sums that are told apart. Tasks with many different numbers of runs have more of them than fit
into memory."""

_NEGLIGIBLE = 1e-12


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
    no random number is drawn, and the result is exact, or within 0.002 of that where the
    tasks' numbers of runs differ so much that there are more than 5,000 sums: near ones are one.

    Args:
        strata: The tasks; one in which an arm has no valid run tells nothing.

    Returns:
        The chance of a smaller mean difference, and half of that of the same one; 0.5 where no
        label matters.
    """
    usable = [each for each in strata if each.runs and each.base_runs]
    unit = math.lcm(*(each.runs * each.base_runs for each in usable))
    chances: dict[int, float] = {0: 1.0}
    seen, blur = 0, 0
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
        if len(chances) > _MOST_SUMS:
            chances, width = _put_together(chances)
            blur += width // 2
    lower = sum(chance for at, chance in chances.items() if at < seen - blur)
    same = sum(chance for at, chance in chances.items() if abs(at - seen) <= blur)
    return min(lower + 0.5 * same, 1.0)


def _put_together(chances: Mapping[int, float]) -> tuple[dict[int, float], int]:
    """Return the chances of sums, each moved to the nearest multiple of a width, and the width."""
    likely = [at for at, chance in chances.items() if chance > _NEGLIGIBLE]
    width = (max(likely) - min(likely)) // _MOST_SUMS + 1
    found = defaultdict[int, float](float)
    for at in likely:
        found[(at + width // 2) // width * width] += chances[at]
    return found, width
