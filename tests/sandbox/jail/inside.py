"""A host for one jail at a time."""

import os
import select
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lineshaft.sandbox.bundle import Interpreter
from lineshaft.sandbox.jail import Jail, Jailed, SandboxSpec

SECONDS = 20.0


@dataclass(frozen=True)
class Ran:
    """What a program inside did."""

    code: int | None
    out: str


@dataclass(frozen=True)
class Inside:
    """Runs Python inside a boundary."""

    jail: Jail
    interpreter: Interpreter

    def argv(self, code: str, *words: str) -> list[str]:
        """Return how the bundled Python is started."""
        return [str(self.interpreter.executable), "-I", "-S", "-B", "-c", code, *words]

    def spec(self, spec: SandboxSpec | None = None) -> SandboxSpec:
        """Return a spec with which the bundled Python can be read."""
        spec = spec or SandboxSpec(readable=())
        return replace(spec, readable=(*self.interpreter.readable, *spec.readable))

    @contextmanager
    def started(
        self, code: str, *words: str, spec: SandboxSpec | None = None, apart: Path | None = None
    ) -> Generator[tuple[Jailed, int]]:
        """Start a program; its output comes from the descriptor."""
        out, into = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        jailed = self.jail.start(
            self.argv(code, *words),
            spec=self.spec(spec),
            stdin=null,
            stdout=into,
            stderr=into,
            apart=apart,
        )
        os.close(into)
        os.close(null)
        try:
            yield jailed, out
        finally:
            jailed.kill()
            jailed.close()
            os.close(out)

    def run(self, code: str, *words: str, spec: SandboxSpec | None = None) -> Ran:
        """Run a program to its end."""
        with self.started(code, *words, spec=spec) as (jailed, out):
            text = read_all(out)
            return Ran(jailed.wait(SECONDS), text)


def read_all(fd: int, seconds: float = SECONDS) -> str:
    """Return what comes until nobody holds the other end any more."""
    data = b""
    until = time.monotonic() + seconds
    while select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
        more = os.read(fd, 65_536)
        if not more:
            return data.decode(errors="replace")
        data += more
    raise AssertionError(f"somebody still holds the output, after {data[-200:]!r}")


def read_line(fd: int) -> str:
    """Return one line."""
    data = b""
    while not data.endswith(b"\n"):
        if not select.select([fd], [], [], SECONDS)[0]:
            raise AssertionError(f"no line came, only {data!r}")
        more = os.read(fd, 1)
        if not more:
            raise AssertionError(f"the output ended with {data!r}")
        data += more
    return data.decode().strip()
