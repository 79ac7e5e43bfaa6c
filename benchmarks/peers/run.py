"""Lineshaft beside its peers: the same scripts, in turn, each peer in an environment of its own.

`--quick` takes fewer turns and programs; `--only NAME,NAME` takes some peers; `--json` prints the
figures as JSON. Nothing is asserted: a person reads it, and `docs/benchmarks.md` keeps a copy.
"""

import argparse
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import workloads
from driving import NoAnswer, PeerProcess
from environments import NotInstalled, python_of

from lineshaft.evals import offline_tokeniser

BEGUN = time.monotonic()
TESTS = Path(__file__).parents[2] / "tests"
COLUMNS = ("memory", "time", "wall", "policy", "staging", "approvals")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerKind:
    """A peer, and how its driver is started."""

    name: str
    words: tuple[str, ...]
    """The driver and its arguments; none: it has no driver."""

    requirements: str = ""
    """Of its environment; empty: this one."""


PEERS = (
    PeerKind(name="lineshaft wasm", words=("ours.py", "wasm")),
    PeerKind(name="lineshaft cpython", words=("ours.py", "cpython")),
    PeerKind(name="fastmcp code mode", words=("fastmcp_code.py",), requirements="fastmcp"),
    PeerKind(name="harness CodeMode", words=("harness.py",), requirements="harness"),
    PeerKind(name="monty alone", words=("monty.py",), requirements="monty"),
    PeerKind(name="smolagents local", words=("smol.py",), requirements="smolagents"),
    PeerKind(name="pyeryx", words=(), requirements="eryx"),
    PeerKind(name="direct", words=("plain.py",)),
)


@dataclass(slots=True, kw_only=True)
class Figures:
    """What was measured of one peer."""

    name: str
    version: str = ""
    missing: str = ""
    """Why it is not measured; empty: it is."""

    protection: dict[str, str] = field(default_factory=dict[str, str])
    ms: dict[str, float | None] = field(default_factory=dict[str, float | None])
    """Medians, by workload; None: it did not do it."""

    memory_mb: dict[str, float] = field(default_factory=dict[str, float])
    """`open`: with tools and nothing run; `most`: at most, with ten scripts of a hundred calls at
    once, and with a result of 5 MB."""

    tokens: dict[str, int] = field(default_factory=dict[str, int])
    """Of the text that a client loads, by number of tools."""

    trials: dict[str, str] = field(default_factory=dict[str, str])
    """What it does with a script that does what it should not."""

    programs: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the natural programs: `ended`, `right`, `of`, `failed`."""

    faults: list[str] = field(default_factory=list[str])
    """What went wrong outside of the trials."""


class Measurement:
    """All peers, measured in turn."""

    def __init__(self, chosen: Sequence[PeerKind], *, quick: bool, folder: Path) -> None:
        self._quick = quick
        self._folder = folder
        self._turns = 3 if quick else 9
        self._kinds = {kind.name: kind for kind in chosen}
        self._pythons: dict[str, Path] = {}
        self._running: dict[str, PeerProcess] = {}
        self.figures = {name: Figures(name=name) for name in self._kinds}

    def carried_out(self) -> list[Figures]:
        """Measure all of it."""
        try:
            self._install()
            for kind in self._pythons:
                self._start(kind)
            self._time()
            self._together()
            self._weigh()
            self._catalogues()
            self._try()
            if not self._quick:
                self._programs()
        finally:
            for process in self._running.values():
                process.end()
        return list(self.figures.values())

    def _install(self) -> None:
        for name, kind in self._kinds.items():
            tell(f"environment of {name}")
            try:
                python = python_of(kind.requirements)
            except NotInstalled as error:
                self.figures[name].missing = f"it cannot be installed here: {error}"
                continue
            if kind.words:
                self._pythons[name] = python
            else:
                self.figures[name].missing = "it has no driver: it was never installed so far"

    def _start(self, name: str) -> bool:
        """Start a peer's process anew; return whether it is there."""
        if (old := self._running.pop(name, None)) is not None:
            old.end()
        process = PeerProcess(self._pythons[name], self._kinds[name].words)
        figures = self.figures[name]
        place = self._folder / name.replace(" ", "-")
        place.mkdir(exist_ok=True)
        try:
            hello = process.ask("hello")
            opened = process.ask("open", folder=str(place))
        except NoAnswer as error:
            figures.missing = figures.missing or f"it does not start: {error}"
            return False
        if not (hello["ok"] and opened["ok"]):
            process.end()
            figures.missing = f"it does not start: {hello.get('error') or opened.get('error')}"
            return False
        figures.version, figures.protection = hello["version"], hello["protection"]
        figures.memory_mb.setdefault("open", round(process.rest_mb(), 1))
        self._running[name] = process
        return True

    def _time(self) -> None:
        works: dict[str, Callable[[int], str]] = {
            f"{n:,} calls": lambda turn, n=n: workloads.calls(n, turn) for n in workloads.CALLS
        }
        works |= {
            label: lambda turn, size=size: workloads.result(size, turn)
            for label, size in workloads.SIZES.items()
        }
        works["computing"] = workloads.computing
        expected: Mapping[str, object] = {
            **{f"{n:,} calls": n for n in workloads.CALLS},
            **workloads.SIZES,
            "computing": [True, 977],
        }
        for label, script in works.items():
            tell(label)
            spent: dict[str, list[float]] = {name: [] for name in self._running}
            for turn in range(self._turns + 1):
                for name in list(self._running):
                    answer = self._asked(name, "run", code=script(turn))
                    if answer is None or "raised" in answer or answer["value"] != expected[label]:
                        self._fault(name, label, answer)
                    elif turn:  # the first one warms up
                        spent[name].append(answer["ms"])
            for name, times in spent.items():
                done = statistics.median(times) if times else None
                self.figures[name].ms[label] = done and round(done, 3)

    def _together(self) -> None:
        label = f"{workloads.TOGETHER} at once"
        tell(label)
        spent: dict[str, list[float]] = {name: [] for name in self._running}
        for turn in range(self._turns):
            for name in list(self._running):
                codes = [workloads.calls(10, turn * 100 + n) for n in range(workloads.TOGETHER)]
                answer = self._asked(name, "together", codes=codes)
                if answer is None or answer["values"] != [10] * workloads.TOGETHER:
                    self._fault(name, label, answer)
                else:
                    spent[name].append(answer["ms"])
        for name, times in spent.items():
            self.figures[name].ms[label] = round(statistics.median(times), 3) if times else None

    def _weigh(self) -> None:
        """Look at the memory, apart from the times: looking costs time."""
        tell("memory")
        count, size = workloads.CALLS[-1], workloads.SIZES["5 MB"]
        for name in list(self._running):
            self._running[name].rest_mb()
            scripts = [workloads.calls(count // 10, -n) for n in range(workloads.TOGETHER)]
            self._asked(name, "together", watched=True, codes=scripts)
            self._asked(name, "run", watched=True, code=workloads.result(size, -1))
            if name in self._running:
                self.figures[name].memory_mb["most"] = round(self._running[name].peak_mb, 1)

    def _catalogues(self) -> None:
        tokeniser = offline_tokeniser()
        for count in workloads.TOOLS:
            tell(f"{count} tools")
            for name in list(self._running):
                answer = self._asked(name, "catalogue", count=count)
                if answer is None or not answer["ok"]:
                    self._fault(name, f"{count} tools", answer)
                elif answer["text"]:
                    self.figures[name].tokens[str(count)] = tokeniser.count(answer["text"])

    def _try(self) -> None:
        for trial in workloads.TRIALS:
            tell(trial.name)
            for name in list(self._running):
                if self._opened(name, anew=trial.bounded):
                    self.figures[name].trials[trial.name] = self._tried(name, trial)

    def _opened(self, name: str, *, anew: bool) -> bool:
        """Give a peer the tools of the workloads again; return whether it is there."""
        if anew:
            return self._start(name)
        place = str(self._folder / name.replace(" ", "-"))
        closed, opened = self._asked(name, "shut"), self._asked(name, "open", folder=place)
        return closed is not None and opened is not None

    def _tried(self, name: str, trial: workloads.Trial) -> str:
        process = self._running[name]
        held = process.rest_mb()
        bounds = {"seconds": trial.seconds, "memory_mb": trial.memory_mb}
        try:
            answer = process.ask(
                "run", patience=15, watched=trial.bounded, code=trial.code, **bounds
            )
        except NoAnswer as error:
            self._running.pop(name)
            self._start(name)
            return str(error)
        if trial.name == "write, then error":
            answer |= process.ask("shut")
            there = (self._folder / name.replace(" ", "-") / "note.txt").exists()
            return f"the file is {'there' if there else 'not there'}"
        told = (
            f"ends: {_short(answer['raised'])}" if "raised" in answer else _short(answer["value"])
        )
        if trial.name in ("refused call", "hidden tool"):
            ran = "the tool ran" if answer["ran"] else "the tool did not run"
            return f"{ran}; {told}"
        return f"{told} ({answer['ms'] / 1000:.1f} s, {process.peak_mb - held:+.0f} MB)"

    def _programs(self) -> None:
        for name in list(self._running):
            tell(f"natural programs: {name}")
            if self._start(name):
                answer = self._asked(name, "programs", patience=150, folder=str(TESTS), seconds=20)
                if answer is None or not answer["ok"]:
                    self._fault(name, "natural programs", answer)
                else:
                    self.figures[name].programs = {k: v for k, v in answer.items() if k != "ok"}

    def _asked(
        self, name: str, do: str, *, patience: float = 60, watched: bool = False, **given: object
    ) -> Any:
        """Return a peer's answer; None: there is none, and it was started anew."""
        if name not in self._running:
            return None
        try:
            answer = self._running[name].ask(do, patience=patience, watched=watched, **given)
        except NoAnswer as error:
            self._fault(name, do, {"error": str(error)})
            self._running.pop(name)
            self._start(name)
            return None
        if not answer["ok"]:
            self._fault(name, do, answer)
            return None
        return answer

    def _fault(self, name: str, label: str, answer: Mapping[str, Any] | None) -> None:
        if answer is not None:
            why = answer.get("error") or answer.get("raised") or f"value {answer.get('value')!r}"
            text = f"{label}: {why}"[:300]
            if text not in self.figures[name].faults:
                self.figures[name].faults.append(text)


def tell(text: str) -> None:
    """Say what is measured now."""
    print(f"{time.monotonic() - BEGUN:5.0f} s  {text}", file=sys.stderr, flush=True)


def _short(value: object) -> str:
    """Return a value or a message on one line, short."""
    text = " ".join((value if isinstance(value, str) else f"value {value!r}").split())
    return text if len(text) <= 160 else f"{text[:160]} ..."


def walls_of(figures: Figures) -> str:
    """Return the class of protection: rows of one class are compared."""
    protection = figures.protection
    if protection["wall"] == "no":
        return "no wall"
    return "a wall, and policy, staging, approvals" if protection["policy"] == "yes" else "a wall"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown."""
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows),
        "",
    ]


def report(found: Sequence[Figures]) -> list[str]:
    """Return all figures as lines."""
    here = [each for each in found if not each.missing]
    lines = table(
        ["peer", "version", *COLUMNS, "compared as"],
        [
            [each.name, each.version, *(each.protection[c] for c in COLUMNS), walls_of(each)]
            for each in here
        ],
    )
    lines += [f"Not measured: {each.name}: {each.missing}" for each in found if each.missing]
    base = next((each for each in here if each.name == "lineshaft wasm"), None)
    labels = list(here[0].ms) if here else []
    lines += ["", "Milliseconds, medians; in brackets how many times as long as Lineshaft on wasm."]
    rows = [[each.name, *(_timed(each, base, label) for label in labels)] for each in here]
    lines += table(["peer", *labels], rows)
    counts = [str(count) for count in workloads.TOOLS]
    rows = [
        [
            each.name,
            f"{each.memory_mb['open']:,.0f}",
            f"{each.memory_mb['most']:,.0f}" if "most" in each.memory_mb else "-",
            *(f"{each.tokens[n]:,}" if n in each.tokens else "-" for n in counts),
            _of_programs(each.programs),
        ]
        for each in here
    ]
    tokens = [f"tokens, {count} tools" for count in counts]
    lines += table(["peer", "MB, open", "MB, most", *tokens, "natural programs"], rows)
    trials = [trial.name for trial in workloads.TRIALS]
    lines += table(
        ["peer", *trials],
        [[each.name, *(each.trials.get(name, "-") for name in trials)] for each in here],
    )
    lines += [f"{each.name}: {fault}" for each in here for fault in each.faults]
    return lines


def _timed(figures: Figures, base: Figures | None, label: str) -> str:
    ours, own = base.ms.get(label) if base else None, figures.ms.get(label)
    if own is None:
        return "did not"
    return f"{own:,.2f}" + (f" ({own / ours:.2f})" if ours and figures is not base else "")


def _of_programs(told: Mapping[str, Any]) -> str:
    if not told:
        return "-"
    return f"{told['right']} of {told['of']} right, {told['ended'] - told['right']} other"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    names = [name.strip() for name in given.only.split(",") if name.strip()]
    if unknown := set(names) - {kind.name for kind in PEERS}:
        known = ", ".join(kind.name for kind in PEERS)
        parser.error(f"there is no peer {min(unknown)!r}; there are: {known}")
    chosen = [kind for kind in PEERS if not names or kind.name in names]
    with tempfile.TemporaryDirectory() as folder:
        measurement = Measurement(chosen, quick=given.quick, folder=Path(folder))
        found = measurement.carried_out()
    if given.json:
        print(json.dumps([asdict(each) for each in found]))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, {platform.system()}")
    for line in report(found):
        print(line)


if __name__ == "__main__":
    main()
