"""A peer's process: asked in turn, watched for its memory, killed where it does not answer."""

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast

import psutil

HERE = Path(__file__).parent
_LOOK = 0.05
_MB = 1_000_000


class NoAnswer(Exception):
    """A peer does not answer, or its process ended."""


class PeerProcess:
    """The process of a peer's driver, with all processes that it starts.

    Args:
        python: Of the peer's environment.
        words: The driver and its arguments.
    """

    def __init__(self, python: Path, words: Sequence[str]) -> None:
        driver = str(HERE / "drivers" / words[0])
        self._process = subprocess.Popen(
            [python, driver, *words[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._to, self._from, self._beside = cast("tuple[TextIO, TextIO, TextIO]", pipes)
        self._tree = psutil.Process(self._process.pid)
        self._lines: queue.Queue[str] = queue.Queue()
        self._said: list[str] = []
        self._over = threading.Event()
        self._watched = threading.Event()
        self.peak_mb = 0.0
        """Most memory that the tree held at once while watched, by shared parts (PSS) where the
        system says it; looked at twenty times a second."""
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._read, self._listen, self._watch)
        ]
        for thread in self._threads:
            thread.start()

    def ask(
        self, do: str, *, patience: float = 120, watched: bool = False, **given: object
    ) -> dict[str, Any]:
        """Ask, and wait for the answer.

        Args:
            do: What to do.
            patience: Seconds to wait.
            watched: Whether memory is looked at meanwhile, which costs time.
            **given: Its arguments.

        Raises:
            NoAnswer: There is none in time; the process is then ended with all that it started.
        """
        if watched:
            self._watched.set()
        try:
            self._to.write(json.dumps({"do": do, **given}) + "\n")
            self._to.flush()
            line = self._lines.get(timeout=patience)
        except queue.Empty:
            self.end()
            raise NoAnswer(f"no answer in {patience:g} s: its process was killed") from None
        except OSError:
            line = ""
        finally:
            self._watched.clear()
        if not line:
            self.end()
            said = " ".join("".join(self._said).split())[-200:]
            raise NoAnswer(f"its process ended: {said or 'it said nothing'}")
        return json.loads(line)

    def rest_mb(self) -> float:
        """Return what the tree holds now, and begin to look for the most anew."""
        self.peak_mb = _held(self._tree)
        return self.peak_mb

    def end(self) -> None:
        """End the process, and all that it started."""
        self._over.set()
        tree: list[psutil.Process] = []
        with suppress(psutil.Error):
            tree = [*self._tree.children(recursive=True), self._tree]
        for each in tree:
            with suppress(psutil.Error):
                each.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._to, self._from, self._beside):
            with suppress(OSError):
                stream.close()

    def _read(self) -> None:
        for line in self._from:
            self._lines.put(line)
        self._lines.put("")

    def _listen(self) -> None:
        for line in self._beside:
            self._said.append(line)
            del self._said[:-50]

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            if self._watched.is_set():
                self.peak_mb = max(self.peak_mb, _held(self._tree))


def _held(tree: psutil.Process) -> float:
    """Return the megabytes of a tree of processes."""
    total = 0
    with suppress(psutil.Error):
        for each in (tree, *tree.children(recursive=True)):
            with suppress(psutil.Error):
                full: Any = each.memory_full_info()
                total += getattr(full, "pss", full.rss)
    return total / _MB
