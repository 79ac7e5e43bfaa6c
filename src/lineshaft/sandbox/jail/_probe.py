"""Probe of each boundary on this machine, by attacks."""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from lineshaft.sandbox.bundle import Interpreter, resolve
from lineshaft.sandbox.jail._choose import JAILS, unusable
from lineshaft.sandbox.jail._spec import AttackResult, Boundary, Jail, SandboxSpec
from lineshaft.sandbox.jail._targets import fresh, targets
from lineshaft.values import PythonOptions

_ATTACKS = Path(__file__).with_name("_attacks")
_START = """
import importlib, sys, types
folder, text, *names = sys.argv[1:]
name = "lineshaft"
for part in ("", ".sandbox", ".jail", "._attacks"):
    name += part
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
sys.modules[name].__path__ = [folder]
importlib.import_module(name + "._program").main(text, names)
"""
"""The only part of Lineshaft inside is the attacks' folder, under the names its files use."""

_SECONDS = 120.0

Seen = dict[str, tuple[bool, str]]


def probe(interpreter: Interpreter | None = None) -> tuple[Boundary, ...]:
    """Return the result of the attacks for each boundary; takes some seconds.

    Every attack is first run without any boundary. One that fails even there proves nothing, and
    is marked so.

    Args:
        interpreter: The Python that runs the attacks; None: the one that scripts get.
    """
    interpreter = interpreter or resolve(PythonOptions())
    spec = SandboxSpec(
        readable=(*interpreter.readable, _ATTACKS),
        memory_mb=128,
        processes=12,
        open_files=64,
        file_mb=8,
        cpu_seconds=2,
        env={"PATH": "/nowhere"},
    )
    found: list[Boundary] = []
    with targets(spec, interpreter) as about:
        bare = _bare(interpreter, about)
        for name in JAILS:
            reason = unusable(name)
            if reason:
                found.append(Boundary(name=name, usable=False, reasons=(reason,)))
                continue
            fresh(about)
            jail = JAILS[name]()
            inside = _inside(jail, interpreter, spec, about, list(bare))
            found.append(_boundary(jail, bare, inside))
    return tuple(found)


def _boundary(jail: Jail, bare: Seen, inside: Seen) -> Boundary:
    attacks = tuple(
        AttackResult(attack=words, held=not through, how=seen, counts=bare[words][0])
        for words, (through, seen) in inside.items()
    )
    return Boundary(
        name=jail.name,
        usable=True,
        reasons=tuple(f"{one.attack}: {one.how}" for one in attacks if not one.held),
        attacks=attacks,
        changes=jail.keeps_apart,
    )


def _bare(interpreter: Interpreter, about: Mapping[str, str]) -> Seen:
    """Run the attacks without any boundary: only what succeeds here counts."""
    fresh(dict(about))
    with tempfile.TemporaryDirectory(prefix="lineshaft-probe-") as folder:
        done = subprocess.run(  # noqa: S603  our own program
            _argv(interpreter, about),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"LINESHAFT_PROBE": about["mark"]},
            close_fds=False,
            timeout=_SECONDS,
            check=False,
        )
    return _parse(done.stdout)


def _inside(
    jail: Jail,
    interpreter: Interpreter,
    spec: SandboxSpec,
    about: Mapping[str, str],
    names: list[str],
) -> Seen:
    """Run the attacks inside; one that ends the whole jail was held, and the others follow."""
    seen: Seen = {}
    while left := [name for name in names if name not in seen]:
        code, more = _round(jail, [*_argv(interpreter, about), *left], spec)
        seen |= more
        missing = [name for name in left if name not in seen]
        if missing and (code != 0 or not more):
            seen[missing[0]] = (False, "the whole jail was ended")
    return {name: seen[name] for name in names}


def _round(jail: Jail, argv: Sequence[str], spec: SandboxSpec) -> tuple[int | None, Seen]:
    with tempfile.TemporaryFile() as out:
        null = os.open(os.devnull, os.O_RDWR)
        try:
            jailed = jail.start(argv, spec=spec, stdin=null, stdout=out.fileno(), stderr=null)
            code = jailed.wait(_SECONDS)
            jailed.kill()
        finally:
            os.close(null)
        out.seek(0)
        return code, _parse(out.read())


def _argv(interpreter: Interpreter, targets: Mapping[str, str]) -> list[str]:
    about = json.dumps(dict(targets))
    return [str(interpreter.executable), "-I", "-S", "-B", "-c", _START, str(_ATTACKS), about]


def _parse(output: bytes) -> Seen:
    lines = output.decode(errors="replace").splitlines()
    rows = (cast("tuple[str, bool, str]", tuple(json.loads(line))) for line in lines)
    return {words: (through, seen) for words, through, seen in rows}
