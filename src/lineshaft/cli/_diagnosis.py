"""One thing that `lineshaft doctor` looked at."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    hint: str = ""
