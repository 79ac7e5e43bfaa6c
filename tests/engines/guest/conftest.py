"""The guest, in every Python that this machine has and in the image."""

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from engines.guest.canned import ORDER, Canned
from engines.interpreters import VERSIONS, found
from lineshaft.errors import EngineError
from lineshaft.sandbox.webassembly import Instances

HERE = Path(__file__).parent
GUEST = HERE.parents[2] / "src" / "lineshaft" / "engines" / "guest"


@dataclass
class Ran:
    """What came of a run."""

    answer: dict[str, Any]
    stdout: str = ""
    stderr: str = ""
    writes: list[str] = field(default_factory=list[str])
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    turns: list[Any] = field(default_factory=list[Any])

    @property
    def value(self) -> Any:
        """The value that was returned."""
        assert self.answer["how"] == "returned", self.answer
        return self.answer["value"]

    @property
    def error(self) -> dict[str, Any]:
        """The error that was raised."""
        assert self.answer["how"] == "raised", self.answer
        return self.answer

    @property
    def calls(self) -> list[str]:
        """The tools that were called."""
        return [request["tool"] for request in self.requests if "call" in request]


class Place(Protocol):
    """Where a guest is."""

    @property
    def is_wasm(self) -> bool:
        """Whether that is the image."""
        ...

    @property
    def version(self) -> tuple[int, int]:
        """Of its Python."""
        ...

    def run(self, order: dict[str, Any], files: Any, modules: Any) -> Ran:
        """Carry out an order."""
        ...


class Plain:
    """A plain Python.

    Args:
        python: Its program.
        version: Of it.
    """

    is_wasm = False

    def __init__(self, python: str, version: tuple[int, int]) -> None:
        self.version = version
        command = [python, str(HERE / "served.py"), str(GUEST), str(HERE)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def run(self, order: dict[str, Any], files: Any, modules: Any) -> Ran:
        """Carry out an order."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([order, files, modules]) + "\n")
        self._process.stdin.flush()
        answer, printed, writes, requests, turns = json.loads(self._process.stdout.readline())
        return Ran(
            json.loads(answer), printed["stdout"], printed["stderr"], writes, requests, turns
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=10)


class Imaged:
    """The image."""

    is_wasm = True
    version = (3, 14)

    def __init__(self) -> None:
        self._instances = Instances(ready=2)
        self._instances.take().close()

    def run(self, order: dict[str, Any], files: Any, modules: Any) -> Ran:
        """Carry out an order."""
        host = Canned(files, modules)
        came: list[Any] = []
        over = threading.Event()

        def done(answer: str | BaseException) -> None:
            came.append(answer)
            over.set()

        self._instances.take().start(json.dumps(order), host, memory_mb=256, done=done)
        assert over.wait(60)
        if isinstance(came[0], BaseException):
            raise came[0]
        out, err = host.printed["stdout"], host.printed["stderr"]
        return Ran(json.loads(came[0]), out, err, host.writes, host.requests, host.turns)

    def close(self) -> None:
        """Give back the instances."""
        self._instances.close()


@dataclass
class Guest:
    """Runs scripts."""

    place: Place

    def __call__(
        self,
        source: str,
        *,
        files: dict[str, str] | None = None,
        modules: dict[str, str] | None = None,
        **order: Any,
    ) -> Ran:
        """Run a script; it may import packages, and modules of the workspace, where it gets any."""
        allowed = {"packages": files is not None, "workspace_imports": modules is not None}
        return self.place.run({**ORDER, **allowed, "source": source, **order}, files, modules)

    def order(self, **order: Any) -> dict[str, Any]:
        """Carry out another order."""
        return self.place.run(order, None, None).answer


@pytest.fixture(scope="session", params=["image", *VERSIONS])
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    """Return the guest at each of its places in turn."""
    if request.param == "image":
        try:
            place: Imaged | Plain = Imaged()
        except EngineError as error:
            pytest.skip(f"needs the image: {error.message}")
    else:
        python = found(request.param)
        if python is None:
            pytest.skip(f"platform: there is no Python {request.param}")
        place = Plain(python, (3, int(request.param.removeprefix("3."))))
    yield Guest(place)
    place.close()
