"""Tries what the installed small engine takes: `python -m lineshaft.engines._subset_probe --write`.

The answer is `_subset.json` beside this file. A test tries again and compares.
"""

import builtins
import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TypedDict, cast

from pydantic_monty import (
    Monty,
    MontyCrashedError,
    MontyRuntimeError,
    MontySession,
    MontySyntaxError,
)

from lineshaft.engines._subset_samples import (
    ARGUMENTS,
    CLASSES,
    IMPORTS,
    KEYWORDS,
    LANGUAGE,
    METHODS,
    VALUES,
)

_LEFT_OUT = frozenset({"antigravity", "this", "idlelib", "turtle", "turtledemo"})
_PARTS = ("collections.abc", "concurrent.futures", "email.message", "html.parser", "os.path",
          "urllib.parse", "xml.etree.ElementTree")  # fmt: skip  # words, not one a line


class Subset(TypedDict):
    """What the small engine has and lacks, as far as it was tried."""

    engine: str
    python: str
    """The full Python whose names were tried."""

    lacks: list[str]
    """Features of `LANGUAGE` that it refuses."""

    differs: list[str]
    """Features of `LANGUAGE` that it takes, and that do something else."""

    methods: list[str]
    """Of `METHODS`, those that it calls."""

    modules: dict[str, list[str]]
    builtins: list[str]
    members: dict[str, list[str]]
    """Attributes that values have, by kind."""

    missing: dict[str, list[str]]
    """Attributes that they lack."""

    classes: dict[str, list[str]]
    keywords: dict[str, list[str]]
    """Of functions."""

    arguments: dict[str, list[str]]
    """Keywords of methods."""


class _Tried:
    """One session after another: what a program did to one is not seen by the next."""

    def __init__(self, pool: Monty) -> None:
        self._pool = pool
        self._session: MontySession | None = None

    def fresh(self) -> None:
        """Begin with nothing."""
        if self._session is not None:
            self._session.__exit__(None, None, None)
        self._session = self._pool.checkout(
            limits={"max_suspensions": 10**6, "max_feed_duration_secs": 5}
        )
        self._session.__enter__()
        self.error(IMPORTS)

    def error(self, program: str) -> str:
        """Run a program; return what it raised, or nothing."""
        assert self._session is not None  # noqa: S101  `fresh` comes first
        try:
            self._session.feed_run(program, print_callback=_drop)
        except MontyCrashedError:
            self._session = None
            self.fresh()
            return "crashed"
        except (MontyRuntimeError, MontySyntaxError) as error:
            return str(error.display("type-msg"))
        return ""

    def has(self, expression: str) -> bool:
        """Return whether an expression finds its names and attributes."""
        said = self.error(expression)
        return not ("has no attribute" in said or said.startswith(("NameError", "NotImpl")))


def _drop(stream: object, text: str) -> None:
    del stream, text


def probe() -> Subset:
    """Return what the installed engine has."""
    with warnings.catch_warnings(), Monty() as pool:
        warnings.simplefilter("ignore")  # of modules that will go
        tried = _Tried(pool)
        tried.fresh()
        members, missing = _members(tried)
        modules = _modules(tried)
        classes = {name: _class(tried, name) for name in CLASSES}
        keywords = {name: _keywords(tried, name) for name in KEYWORDS}
        lacks, differs = _language(tried, LANGUAGE)
        refused, changed = _language(tried, METHODS)
        return Subset(
            engine=f"pydantic-monty {version('pydantic-monty')}",
            python=f"{sys.version_info[0]}.{sys.version_info[1]}",
            lacks=lacks,
            differs=differs,
            methods=sorted(set(METHODS) - {*refused, *changed}),
            modules=modules,
            builtins=[name for name in _public(dir(builtins)) if tried.has(name)],
            members=members,
            missing=missing,
            classes=classes,
            keywords=keywords,
            arguments={name: _arguments(tried, name) for name in ARGUMENTS},
        )


def _language(tried: _Tried, samples: Mapping[str, str]) -> tuple[list[str], list[str]]:
    lacks: list[str] = []
    differs: list[str] = []
    for name, program in samples.items():
        tried.fresh()
        said = tried.error(program)
        if said.startswith("AssertionError"):
            differs.append(name)
        elif said:
            lacks.append(name)
    tried.fresh()
    return lacks, differs


def _modules(tried: _Tried) -> dict[str, list[str]]:
    """Return the modules that can be imported, each with the names that it has."""
    found: dict[str, list[str]] = {}
    for name in sorted({*sys.stdlib_module_names, *_PARTS} - _LEFT_OUT):
        if name.startswith("_") or tried.error(f"import {name}"):
            continue
        try:
            full = importlib.import_module(name)
        except ImportError:
            continue
        found[name] = [a for a in _public(dir(full)) if not tried.error(f"{name}.{a}")]
    return found


def _members(tried: _Tried) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the attributes that values of each kind have, and those that they lack."""
    has: dict[str, list[str]] = {}
    lacks: dict[str, list[str]] = {}
    scope: dict[str, object] = {}
    exec(IMPORTS, scope)  # noqa: S102  text of ours
    for kind, value in VALUES.items():
        full = eval(value, scope)  # noqa: S307  text of ours
        names = _public(dir(full))
        has[kind] = [n for n in names if tried.has(_use(full, f"({value})", n))]
        lacks[kind] = [n for n in names if n not in has[kind]]
    return has, lacks


def _class(tried: _Tried, name: str) -> list[str]:
    scope: dict[str, object] = {}
    exec(IMPORTS, scope)  # noqa: S102  text of ours
    full = eval(name, scope)  # noqa: S307  text of ours
    return [n for n in _public(dir(full)) if tried.has(_use(full, name, n))]


def _use(full: object, text: str, name: str) -> str:
    """Return an expression that needs an attribute: methods exist only when they are called."""
    is_called = callable(inspect.getattr_static(full, name)) or callable(getattr(full, name))
    return f"{text}.{name}()" if is_called else f"{text}.{name}"


def _keywords(tried: _Tried, name: str) -> list[str]:
    before, values = KEYWORDS[name]
    tried.error(f"import {name.rpartition('.')[0] or 'math'}")
    if name == "datetime.date":  # it needs all of them
        alone = {word: ", ".join(f"{w}={v}" for w, v in values.items()) for word in values}
    else:
        alone = {word: f"{word}={value}" for word, value in values.items()}
    start = f"{before}, " if before else ""
    form = _FORMS.get(name, "{}")
    return [w for w, text in alone.items() if _takes(tried, form.format(f"{name}({start}{text})"))]


_FORMS = {
    "asyncio.gather": "await {}",
    "dataclasses.dataclass": "@{}\nclass A:\n    x: int\nA(x=1)",
}


def _arguments(tried: _Tried, name: str) -> list[str]:
    value, before, values = ARGUMENTS[name]
    start = f"{before}, " if before else ""
    return [w for w, v in values.items() if _takes(tried, f"({value}).{name}({start}{w}={v})")]


def _takes(tried: _Tried, call: str) -> bool:
    """Return whether a call's keyword is known, even where its value is refused."""
    said = tried.error(call)
    return not any(s in said for s in ("keyword", "not yet support", "NotImplemented", "crashed"))


def _public(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith("_"))


def write(path: Path) -> None:
    """Write what the installed engine has."""
    path.write_text(_text(probe()), encoding="utf-8")


def _text(found: Subset) -> str:
    """Return JSON with one list a line, to be read in a diff."""
    lines: list[str] = []
    facts = cast("dict[str, str | list[str] | dict[str, list[str]]]", found)
    for key, value in facts.items():
        if isinstance(value, dict):
            inner = ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            lines.append(f"{json.dumps(key)}: {{\n  {inner}\n }}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write(Path(str(files("lineshaft.engines") / "_subset.json")))
    else:
        sys.stdout.write(_text(probe()))
