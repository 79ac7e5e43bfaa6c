"""Hosts in processes of their own, over one store and one workspace."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forked.programs import Programs
from lineshaft import Session

HOST = Path(__file__).parent / "host.py"

Told = dict[str, Any]

Open = Callable[..., Session]
"""Makes a session over one store and one workspace; settings as `Session`'s, and `rules`."""

ASK = {"id": "ask-poke", "tool": "poke", "verdict": "ask", "reason": "it pokes"}
ASK_WRITE = {"id": "ask-write", "tool": "write_file", "path": "asked/**", "verdict": "ask"}


@dataclass
class World:
    """A store, a workspace and a log of deeds, and hosts over them."""

    folder: Path
    engine: str
    programs: Programs
    started: list[subprocess.Popen[str]] = field(default_factory=list[subprocess.Popen[str]])

    @property
    def workspace(self) -> Path:
        """The folder that files are changed in."""
        return self.folder / "work"

    @property
    def deeds(self) -> list[str]:
        """What tools really did, in order."""
        log = self.folder / "log"
        return log.read_text("utf-8").splitlines() if log.exists() else []

    def start(self, do: str, **order: object) -> "subprocess.Popen[str]":
        """Start a host in a process of its own, which may be killed."""
        process = subprocess.Popen(
            [sys.executable, str(HOST), self._order(do, order)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def do(self, do: str, **order: object) -> Any:
        """Have a host do something, and return what it says."""
        words = (str(HOST), self._order(do, order))
        done = self.programs.run("", *words, cwd=Path.cwd(), env=os.environ, session=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def run(self, script: str, **order: object) -> Told:
        """Have a host run a script."""
        return self.do("run", script=script, **order)

    def resume(self, run: Told, **order: object) -> Told:
        """Have another host resume a run."""
        return self.do("resume", run_id=run["run_id"], **order)

    def runs(self) -> list[Told]:
        """Return what the store says of all runs."""
        return self.do("runs")

    def _order(self, do: str, order: Mapping[str, object]) -> str:
        full = {
            "do": do,
            "engine": self.engine,
            "store": str(self.folder / "state" / "runs.db"),
            "workspace": str(self.workspace),
            "log": str(self.folder / "log"),
            **order,
        }
        return json.dumps(full)

    def end(self) -> None:
        """End what is still there."""
        for process in self.started:
            process.kill()
            process.communicate()
