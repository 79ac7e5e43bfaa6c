"""Judges `bump-version`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


OLD = """{
  "name": "parcel-tracker",
  "version": "2.4.1",
  "private": true,
  "engines": { "node": ">=22" }
}
"""


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the whole file."""
    text = bench.text("package.json")
    return bench.share({"file": lambda: text == OLD.replace("2.4.1", "2.5.0")})
