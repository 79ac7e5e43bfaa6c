"""The code under test, as the judge has it: what was asked of it, and what it answered.

The judge never imports that code. A module of it is a stand-in here, whose attributes and calls are
questions. `asking.py` puts them to the code in a program of its own, and the checks are carried out
again over the answers. Until a question is answered, its answer is an `Unknown`, and no check in
which there is one counts. It runs apart from Lineshaft, beside `scoring.py`.
"""

import builtins
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

Question = dict[str, Any]
"""`module`, `name` (dotted; empty: the import alone), and of a call `args` and `kwargs`."""


class CodeFailed(Exception):
    """The code under test raised what is no exception of Python's own, or ended its program."""


class _NotKnownYet(BaseException):
    """A check cannot go on without an answer; no check is to catch it."""


class Odd:
    """A value that is no plain data: equal to nothing, and true."""

    __hash__ = None  # pyright: ignore[reportAssignmentType]  as it equals nothing

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        """Return its type alone."""
        return f"<a {self.kind}>"

    def __eq__(self, other: object) -> bool:
        """Return False: what is no plain data is not compared here."""
        return False


class Unknown:
    """The answer to a question that was not put yet."""

    def __init__(self, called: "Callable[..., Any] | None" = None) -> None:
        self._called = called

    def __getitem__(self, key: object) -> "Unknown":
        """Return a part of it, as unknown."""
        return Unknown()

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Put the call, too, where it may be one of a function."""
        return Unknown() if self._called is None else self._called(*args, **kwargs)

    def __iter__(self) -> Iterator[object]:
        """Stop here: how often a loop goes round is not known."""
        raise _NotKnownYet

    __len__ = __index__ = __float__ = __int__ = __iter__  # pyright: ignore[reportAssignmentType]  none of them returns


class Probes:
    """Questions and answers, in the order of each scope: a check, a test, or what comes before.

    Args:
        answers: Those that are known, by scope: pairs of a question and its answer.
        places: Folders whose modules are under test.
    """

    def __init__(self, answers: Mapping[str, Sequence[Any]], places: Sequence[Path]) -> None:
        self._places = places
        self._known: dict[str, Any] = {}
        for scope, pairs in answers.items():
            times = Counter[str]()
            for question, answer in pairs:
                self._known[_key(scope, question, times)] = answer
        self.asked: dict[str, list[Question]] = {}
        """All questions, those that were answered too."""

        self._times: dict[str, Counter[str]] = {}
        self._scope = ""
        self.open: set[str] = set()
        """The scopes with a question that is not answered."""

        self.raised: Exception | None = None
        """What the code under test raised last."""

    @contextmanager
    def scope(self, name: str) -> Generator[None]:
        """Put the questions of the block in a scope of its own."""
        before, self._scope = self._scope, name
        try:
            yield
        except _NotKnownYet:
            pass
        finally:
            self._scope = before

    @property
    def is_open(self) -> bool:
        """Whether nothing can be said of the scope yet, as an answer in it is not known."""
        return self._scope in self.open or "" in self.open

    def module(self, name: str) -> ModuleType:
        """Return the stand-in of a module.

        Raises:
            ImportError: It raised that, or is not there.
        """
        self._ask({"module": name, "name": ""})
        return _StandIn(name, self)

    def attribute(self, module: str, name: str) -> object:
        """Return what a module has by a name: a value, or a function that is asked."""
        return self._ask({"module": module, "name": name})

    def _ask(self, question: Question) -> Any:  # noqa: ANN401  what the code under test says
        scope, times = self._scope, self._times.setdefault(self._scope, Counter())
        self.asked.setdefault(scope, []).append(question)
        key = _key(scope, question, times)
        called = None if "args" in question else self._caller(question)
        if key not in self._known:
            self.open.add(scope)
            return Unknown(called)
        return self._told(self._known[key], called)

    def _caller(self, question: Question) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  as the code under test takes them
            return self._ask({**question, "args": _plain(args), "kwargs": _plain(kwargs)})

        called.__name__ = question["name"]
        return called

    def _told(self, answer: Any, called: Callable[..., Any] | None) -> Any:  # noqa: ANN401  JSON-like
        match answer:
            case ["value", value]:
                return told_value(value)
            case ["function"] if called is not None:
                return called
            case ["raised", str(kind), str(message)]:
                self.raised = _error(kind, message)
            case _:
                self.raised = CodeFailed("it ended its program")
        raise self.raised

    def find(self, name: str) -> bool:
        """Return whether a module is one under test."""
        parts = name.split(".")
        return any(
            place.joinpath(*parts).with_suffix(".py").is_file() or place.joinpath(*parts).is_dir()
            for place in self._places
        )


class _StandIn(ModuleType):
    """A module of the code under test."""

    def __init__(self, name: str, probes: Probes) -> None:
        super().__init__(name)
        self._probes = probes
        self.__path__ = []  # others may be below it

    def __getattr__(self, name: str) -> object:
        """Ask for an attribute."""
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        inner = f"{self.__name__}.{name}"
        if self._probes.find(inner):
            return importlib.import_module(inner)
        return self._probes.attribute(self.__name__, name)


class StandIns(MetaPathFinder, Loader):
    """Gives tests the stand-ins of the modules that they import, and never the modules.

    Args:
        probes: Ask the code under test.
    """

    def __init__(self, probes: Probes) -> None:
        self._probes = probes

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """As for import hooks."""
        del path, target
        if not self._probes.find(fullname):
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """As for import hooks."""
        return self._probes.module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the code runs elsewhere."""

    def installed(self) -> None:
        """Have imports find them, after the modules of Python itself."""
        sys.meta_path.append(self)


def _error(kind: str, message: str) -> Exception:
    """Return an exception of Python's own as it was raised, and any other as a `CodeFailed`."""
    found = getattr(builtins, kind, None)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            return found(message)
        except TypeError:  # it takes more than a message
            pass
    return CodeFailed(f"it raised {kind}: {message}")


def told_value(told: Any) -> Any:  # noqa: ANN401  JSON-like
    """Return a value that `asking.py` wrote down; what is no such form is an `Odd`."""
    match told:
        case None | bool() | int() | float() | str():
            return told
        case ["list", [*items]]:
            return [told_value(item) for item in items]
        case ["tuple", [*items]]:
            return tuple(told_value(item) for item in items)
        case ["dict", [*pairs]]:
            return _dict(pairs)
        case ["bytes", str(text)]:
            return bytes.fromhex(text)
        case ["odd", str(kind)]:
            return Odd(kind)
        case _:
            return Odd("malformed answer")


def _dict(pairs: Sequence[Any]) -> object:
    try:
        return {told_value(key): told_value(value) for key, value in pairs}
    except (TypeError, ValueError):  # a key that is none
        return Odd("dict with odd keys")


def _plain(value: Any) -> Any:  # noqa: ANN401  what a check gives
    """Return an argument in the form in which it is put.

    Raises:
        TypeError: It is no plain data: a function cannot be given to the code under test.
    """
    if isinstance(value, Unknown):
        raise _NotKnownYet
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, list | tuple):
        items: Sequence[Any] = [*value]  # pyright: ignore[reportUnknownArgumentType]  whatever it holds
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, [_plain(item) for item in items]]
    if isinstance(value, dict):
        pairs: Sequence[Any] = [*value.items()]  # pyright: ignore[reportUnknownArgumentType]  whatever it holds
        return ["dict", [[_plain(key), _plain(each)] for key, each in pairs]]
    kind = type(value).__name__
    raise TypeError(f"a {kind} cannot be given to the code under test: write a probe")


def _key(scope: str, question: Question, times: Counter[str]) -> str:
    text = json.dumps([scope, question], sort_keys=True)
    times[text] += 1
    return f"{times[text]} {text}"
