"""A script as `ty` gets it, and `ty`'s diagnostics in the script's own positions."""

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import cast

from lineshaft.values import Diagnostic, Struct

_ANY = re.compile(r"\bAny\b")
_SURROGATES = re.compile("[\ud800-\udfff]")
_NEWER_SYNTAX = "(syntax was added in Python"


class CheckedModule(Struct, frozen=True):
    """A script as the module that it is, below lines that bind its inputs."""

    text: str
    header: int
    """Lines before the script's first one."""

    @classmethod
    def of(cls, source: str, inputs: Mapping[str, str]) -> "CheckedModule":
        """Put the inputs above a script.

        Each gets its type as the result of a function: a declared type would refuse other values
        that the script assigns to the name.
        """
        header: list[str] = []
        for name, type_ in inputs.items():
            if name.isidentifier() and not keyword.iskeyword(name):
                header.append(f"def __given_{name}__() -> {_ANY.sub('__Any__', type_)}: ...")
                header.append(f"{name} = __given_{name}__()")
        if header:
            header.insert(0, "from typing import Any as __Any__")
        # Half of a pair cannot be sent.
        body = _SURROGATES.sub("\ufffd", source.removeprefix("\ufeff"))
        return cls("\n".join((*header, body)), len(header))

    def diagnostics(self, items: object) -> tuple[Diagnostic, ...]:
        """Return `ty`'s diagnostics of the script's own lines; the rest is dropped."""
        found: list[object] = cast("list[object]", items) if isinstance(items, list) else []
        return tuple(each for item in found for each in self._diagnostic(item))

    def _diagnostic(self, item: object) -> Iterator[Diagnostic]:
        match item:
            case {
                "code": str(code),
                "message": str(message),
                "range": {
                    "start": {"line": int(line), "character": int(column)},
                    "end": {"line": int(end_line), "character": int(end_column)},
                },
            } if line >= self.header:
                if code == "invalid-syntax":
                    if _NEWER_SYNTAX not in message:
                        return  # the guest's compiler judges syntax, which allows a top-level await
                    code = "newer-syntax"
                yield Diagnostic(
                    code=code,
                    # The rest is for the user of an editor: notes with paths of this machine.
                    message=message.partition("\n\n")[0],
                    line=line - self.header + 1,
                    column=column + 1,
                    end_line=end_line - self.header + 1,
                    end_column=end_column + 1,
                )
            case _:
                return
