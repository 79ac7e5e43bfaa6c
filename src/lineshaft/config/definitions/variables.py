"""Variables in the definitions of servers, in the three ways in which clients write them.

`${NAME}` and `${NAME:-default}` (Claude Code), `${env:NAME}` (Cursor, VS Code), `${input:id}` and
`${workspaceFolder}` (VS Code). They are put in only when a server is started; what they stand for
is neither shown nor written anywhere.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from msgspec import field

from lineshaft.config._key import PREFIX
from lineshaft.config._secrets import holds_secret
from lineshaft.errors import ConfigError
from lineshaft.values import Struct

_REFERENCE = re.compile(r"\$\{([^{}]{0,1000})\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOLDERS = ("workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/")

INPUT_PREFIX = f"{PREFIX}INPUT_"


class Input(Struct, frozen=True, kw_only=True):
    """A value that a file has a person asked for, as VS Code's `inputs` do."""

    id: str
    description: str = ""
    default: str | None = None
    options: tuple[str, ...] = ()
    """What may be answered; anything where there are none."""

    @property
    def variable(self) -> str:
        """Return the environment variable that answers it."""
        return INPUT_PREFIX + re.sub(r"[^A-Z0-9]", "_", self.id.upper())


def inputs_in(value: object) -> Mapping[str, Input]:
    """Return what a file wants to be asked, by id; what is not understood is left out.

    Args:
        value: A list of objects with `id`, `description`, `default` and `options`.
    """
    found: dict[str, Input] = {}
    for item in _list(value):
        table = cast("dict[str, object]", item) if isinstance(item, dict) else {}
        name, default = table.get("id"), table.get("default")
        if not isinstance(name, str) or not name:
            continue
        found[name] = Input(
            id=name,
            description=str(table.get("description") or ""),
            default=default if isinstance(default, str) else None,
            options=tuple(each for each in _list(table.get("options")) if isinstance(each, str)),
        )
    return found


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


AskInput = Callable[[str, Input], str | None]
"""Ask a person for a value on behalf of a server, by the server's name; None: no answer."""


class Variables(Struct, frozen=True, kw_only=True):
    """The values of variables in a server's definition."""

    __unshown__ = frozenset({"secrets", "told"})

    environ: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a person gave into our keeping; asked where the environment is silent."""

    folder: Path
    """The folder that `${workspaceFolder}` names."""

    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    server: str = ""
    """The name of the server that they are for."""

    ask: AskInput | None = None
    told: set[str] = field(default_factory=set[str])
    """Takes the values that were put in and are secret: no record may show them."""

    def fill(self, text: str) -> str:
        """Return a text with its variables put in.

        Raises:
            ConfigError: One has no value; names it, and shows no value of any other.
        """
        return _REFERENCE.sub(lambda match: self._value(match[1]), text)

    def _value(self, reference: str) -> str:
        kind, colon, rest = reference.partition(":")
        if reference in _FOLDERS:
            return self._folder(reference)
        if kind == "input" and colon:
            return self._answer(rest)
        if kind == "env" and colon:
            return self._named(*rest.partition(":-"))
        name, sign, default = reference.partition(":-")
        if _NAME.fullmatch(name):
            return self._named(name, sign, default)
        raise ConfigError(
            f"the variable ${{{reference}}} is of a kind that is not known here",
            hint="known: ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:id}, ${workspaceFolder}",
        )

    def _named(self, name: str, sign: str, default: str) -> str:
        value = self.environ.get(name) or self.secrets.get(name)
        if value:
            if name in self.secrets or holds_secret(name, value):
                self.told.add(value)
            return value
        if sign:
            return default
        if name in self.environ:
            return ""
        raise ConfigError(f"the variable {name} is not set", hint=f"set it: export {name}=...")

    def _folder(self, name: str) -> str:
        match name:
            case "workspaceFolder":
                return str(self.folder)
            case "workspaceFolderBasename":
                return self.folder.name
            case "userHome":
                return self.environ.get("HOME") or str(Path.home())
            case _:
                return os.sep

    def _answer(self, name: str) -> str:
        wanted = self.inputs.get(name, Input(id=name))
        value = self.environ.get(wanted.variable)
        if value is None and self.ask is not None:
            value = self.ask(self.server, wanted)
        if value is None:
            value = wanted.default
        if value is None:
            why = "" if self.ask else ", and there is no terminal to ask on"
            raise ConfigError(
                f"the input {name!r} has no answer{why}",
                hint=f"set it: export {wanted.variable}=...",
            )
        if wanted.options and value not in wanted.options:
            raise ConfigError(f"the answer to the input {name!r} is none of its options")
        if not wanted.options and value != wanted.default:
            self.told.add(value)
        return value


def references(texts: Iterable[str]) -> Iterator[str]:
    """Yield the names of the variables in texts, without their defaults, as they are written."""
    for text in texts:
        for match in _REFERENCE.finditer(text):
            yield match[1].partition(":-")[0]
