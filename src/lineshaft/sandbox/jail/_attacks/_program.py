"""Try all attacks, one line of JSON each: name, whether it came through, its output.

Above: `_probe.py`, which sets up the targets and says in JSON where they are.
"""

import json
import sys
import time
from collections.abc import Sequence

from lineshaft.sandbox.jail._attacks import _files, _kernel, _limits, _network, _processes
from lineshaft.sandbox.jail._attacks._frame import ATTACKS, Attack, Targets, attempt

ROOMS = (_files, _processes, _network, _kernel, _limits)
"""Imported for their attacks."""

_TRIES, _PAUSE = 10, 0.05


def main(text: str, names: Sequence[str]) -> None:
    """Try some attacks, or all; end where there is no process for the next one."""
    targets = json.loads(text)
    for words in names or ATTACKS:
        try:
            came, seen = _patiently(ATTACKS[words], targets)
        except OSError:
            return
        sys.stdout.write(json.dumps([words, came, seen]) + "\n")
        sys.stdout.flush()


def _patiently(function: Attack, targets: Targets) -> tuple[bool, str]:
    """Try one attack; processes left by an earlier one may still use up the limit."""
    for _ in range(_TRIES):
        try:
            return attempt(function, targets)
        except OSError:
            time.sleep(_PAUSE)
    return attempt(function, targets)
