"""Judges `rename-key`."""

import json
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench, Check


def check(bench: "Bench") -> tuple[float, str]:
    """Read each file as its program would."""
    found: dict[str, Check] = {f"r{n:02}": partial(_holds, bench, n) for n in range(1, 13)}
    return bench.share({**found, "answer": lambda: "8" in str(bench.answer)})


def _holds(bench: "Bench", number: int) -> bool:
    settings = json.loads(bench.text(f"settings/r{number:02}.json"))
    wanted: dict[str, object] = {
        "region": f"r{number:02}",
        "replicas": number % 4 + 1,
        "tags": ["eu" if number % 2 else "us", "managed"],
    }
    if number % 3:
        wanted["timeout_seconds"] = -(-number * 700 // 1000)
    return settings == wanted
