"""The bench that a checker works on. It runs apart from Lineshaft, in the Python of `python_run`.

A task's `checker.py` has `check(bench)`, which returns a score from 0 to 1, or that and a remark.
The code under test is never imported here: see `probing.py`.
"""

import json
import sys
import unittest
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from lineshaft.evals.tasks.probing import Probes, StandIns, Unknown
else:  # as a program it has it beside itself
    from probing import Probes, StandIns, Unknown

Check = Callable[[], object]

_HERE = Path(__file__).parent


class Bench:
    """A workspace to be judged.

    Args:
        root: The workspace, as the agent left it.
        answer: The agent's result.
        state: Of the task's world.
        probes: Ask the code in it.
    """

    def __init__(self, root: Path, *, answer: Any, state: Any, probes: Probes) -> None:  # noqa: ANN401  any JSON
        self.root = root
        self.answer = answer
        self.state = state
        self._probes = probes

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is no such text."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    def module(self, name: str) -> ModuleType:
        """Return the stand-in of a module of the workspace, or of the task's `probes`.

        Its functions are called, and its values read, in a program of its own, with plain data:
        None, bool, numbers, text, bytes, lists, tuples, dicts. What it raises there is raised.
        """
        return self._probes.module(name)

    def share(self, checks: Mapping[str, Check]) -> tuple[float, str]:
        """Return the share of checks that give something true, and the names of the others.

        A check that raises, or whose code ends its program, gives nothing true.
        """
        failed: list[str] = []
        for name, check in checks.items():
            held = False
            with self._probes.scope(f"check {name}"):
                held = _holds(check)
            if not held:
                failed.append(name)
        return (len(checks) - len(failed)) / len(checks), ", ".join(failed)

    def tests(self, name: str) -> tuple[float, str]:
        """Return the share of hidden tests that pass, and the names of the others.

        Args:
            name: A module of `unittest` cases in the task's folder `hidden`. What it imports of the
                workspace is a stand-in, as of `module`.
        """
        suite = unittest.TestSuite()
        with self._probes.scope(f"import {name}"):
            suite = unittest.defaultTestLoader.loadTestsFromName(name)
        if f"import {name}" in self._probes.open:
            self._probes.open.add("")  # its functions are not known to be there
        tests = list(_flat(suite))
        failed: list[str] = []
        for test in tests:
            with self._probes.scope(f"test {test.id()}"):
                self._quieten(test)
                result = unittest.TestResult()
                unittest.TestSuite([test]).run(result)
                if not result.wasSuccessful():
                    failed.append(str(test).split(" ")[0])
        passed = len(tests) - len(failed)
        return (passed / len(tests) if tests else 0.0), ", ".join(failed)

    def _quieten(self, test: unittest.TestCase) -> None:
        """Have a test go on to its last question, as long as an answer in it is not known."""
        for name in dir(test):
            if name.startswith("assert") or name == "fail":
                setattr(test, name, self._quiet(getattr(test, name)))

    def _quiet(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def asserted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  as the method
            if not self._probes.is_open:
                return method(*args, **kwargs)
            if len(args) > 1 and callable(args[1]) and not isinstance(args[1], Unknown):
                args[1](*args[2:], **kwargs)  # such as assertRaises(Error, call, argument)
            return _Anything()

        return asserted


class _Anything:
    """What an assertion gives while nothing can be said yet; as a context it lets all pass."""

    def __enter__(self) -> "_Anything":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        return kind is not None and issubclass(kind, Exception)

    def __getattr__(self, name: str) -> Unknown:
        return Unknown()


def _flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _flat(each)
        else:
            yield each


def _holds(check: Check) -> bool:
    try:
        return bool(check())
    except (Exception, SystemExit):  # noqa: BLE001  what it was given may be anything
        return False


def main() -> None:
    """Run the checker that lies beside this file; write down its score, or what it has to ask."""
    place = _HERE.parent
    given = json.loads((_HERE / "given.json").read_text(encoding="utf-8"))
    probes = Probes(given["answers"], [place / "work", place / "probes"])
    bench = Bench(place / "work", answer=given["answer"], state=given["state"], probes=probes)
    StandIns(probes).installed()
    sys.path.insert(0, str(place / "hidden"))
    space: dict[str, Any] = {"__name__": "checker"}
    source = _HERE / "checker.py"
    exec(compile(source.read_bytes(), str(source), "exec"), space)  # noqa: S102  the task's own
    said: Any = None
    with probes.scope(""):
        try:
            said = space["check"](bench)
        except Exception as error:  # that of the code under test, which is no fault of the checker
            if not probes.is_open and error is not probes.raised:
                raise
            said = 0.0, f"the code under test: {error}"
    asks = probes.asked if probes.open else None
    score: list[Any] = list(said) if isinstance(said, tuple) else [said, ""]  # pyright: ignore[reportUnknownArgumentType]  the task's own
    verdict = json.dumps({"score": None if asks else score, "asks": asks})
    (_HERE / "verdict.json").write_text(verdict, encoding="utf-8")


if __name__ == "__main__":
    main()
