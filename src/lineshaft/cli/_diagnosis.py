"""One thing that `lineshaft doctor` looked at."""

from typing import Literal

from lineshaft.values import Struct

State = Literal["ok", "note", "fail"]


class Diagnosis(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    hint: str = ""
