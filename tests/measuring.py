"""Coverage of the programs that tests start."""

import os
from pathlib import Path
from typing import cast

from coverage import Coverage

ROOT = Path(__file__).parent.parent


def unmeasured() -> dict[str, str]:
    """Return the environment of a program that is not measured: measuring begins before it does."""
    return {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_START"}


def programs_settings(measuring: Coverage) -> str:
    """Return coverage's settings, as text, for programs beside a process that is measured."""
    omitted = cast("list[str]", measuring.get_option("run:omit"))
    lines = [
        "[run]",
        "branch = True",
        "parallel = True",
        f"data_file = {ROOT / str(measuring.get_option('run:data_file'))}",
        f"include = {ROOT}/src/lineshaft/*",  # `source` has each list what it did not execute
        "omit =",
        *(f"    {pattern}" for pattern in omitted),
    ]
    return "\n".join(lines) + "\n"
