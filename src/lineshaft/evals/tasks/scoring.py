"""The bench that a checker works on. It runs apart from Lineshaft, in the Python of `python_run`.

A task's `checker.py` has `check(bench)`, which returns a score from 0 to 1, or that and a remark.
"""

import importlib
import io
import json
import sys
import unittest
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

Check = Callable[[], object]

_HERE = Path(__file__).parent


class Bench:
    """A workspace to be judged.

    Args:
        root: The workspace.
        answer: The agent's result.
        state: Of the task's world.
    """

    def __init__(self, root: Path, *, answer: Any, state: Any) -> None:  # noqa: ANN401  any JSON
        self.root = root
        self.answer = answer
        self.state = state

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is no such text."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    def module(self, name: str) -> ModuleType:
        """Return a module of the workspace; whatever its import raises is raised."""
        return importlib.import_module(name)

    def share(self, checks: Mapping[str, Check]) -> tuple[float, str]:
        """Return the share of checks that give something true, and the names of the others.

        A check that raises, or ends the program by `sys.exit`, gives nothing true.
        """
        failed = [name for name, check in checks.items() if not _holds(check)]
        return (len(checks) - len(failed)) / len(checks), ", ".join(failed)

    def tests(self, name: str) -> tuple[float, str]:
        """Return the share of hidden tests that pass, and the names of the others.

        Args:
            name: A module of `unittest` cases in the task's folder `hidden`.
        """
        sys.path.insert(0, str(_HERE))
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName(name)
        except SystemExit:
            return 0.0, "the code under test ends the program"
        found = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
        failed = [str(test).split(" ")[0] for test, _ in (*found.failures, *found.errors)]
        passed = max(found.testsRun - len(failed), 0)
        return (passed / found.testsRun if found.testsRun else 0.0), ", ".join(failed)


def _holds(check: Check) -> bool:
    try:
        return bool(check())
    except (Exception, SystemExit):  # noqa: BLE001  the code under test may raise anything
        return False


def main() -> None:
    """Run the checker that lies beside this file, and print its score."""
    root = _HERE.parent
    sys.path.insert(0, str(root))
    given = json.loads((_HERE / "given.json").read_text(encoding="utf-8"))
    bench = Bench(root, answer=given["answer"], state=given["state"])
    space: dict[str, Any] = {"__name__": "checker"}
    source = _HERE / "checker.py"
    exec(compile(source.read_bytes(), str(source), "exec"), space)  # noqa: S102  the task's own
    said: Any = space["check"](bench)
    score: list[Any] = list(said) if isinstance(said, tuple) else [said, ""]  # pyright: ignore[reportUnknownArgumentType]  the task's own
    sys.stdout.write(f"\n@lineshaft-score {json.dumps(score)}\n")


if __name__ == "__main__":
    main()
