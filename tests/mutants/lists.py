"""List behaviours without a test, and behaviour tests that no mutant touches.

Reads files only; run by `./dev check`. Fails for a behaviour without a test, for a test with an
unknown number, and for a mutant that names no test there is.
"""

import ast
import sys
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent.parent
FOLDER = TESTS / "behaviour"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> int:
    """Print the lists; return how many things are wrong."""
    numbers = tomllib.loads((FOLDER / "behaviours.toml").read_text(encoding="utf-8"))["behaviours"]
    table = tomllib.loads((TESTS / "mutants" / "mutants.toml").read_text(encoding="utf-8"))
    mutants = table.get("mutant", [])
    tests = _tests(FOLDER)
    beside = {test for test in _tests(TESTS) if not test.startswith(f"{FOLDER.name}/")}
    shown = {number for found in tests.values() for number in found}
    killed = {test for mutant in mutants for test in mutant["kills"]}
    wrong = {
        "behaviours without a test": [f"{n}: {numbers[n]}" for n in numbers if n not in shown],
        "numbers that are no behaviour": sorted(shown - set(numbers)),
        "behaviour tests without a number": [test for test, found in tests.items() if not found],
        "tests that a mutant names and nobody wrote": sorted(
            killed - set(tests) - {f"../{test}" for test in beside}
        ),
    }
    _print(f"{len(numbers)} behaviours, {len(tests)} tests, {len(mutants)} mutants\n")
    for title, items in wrong.items():
        _list(title, items)
    _list("tests that no mutant touches", [test for test in tests if test not in killed])
    return sum(len(items) for items in wrong.values())


def _tests(folder: Path) -> dict[str, list[str]]:
    """Return the behaviour numbers of each test in a folder, by its name as pytest takes it."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        of_file = [number for node in tree.body for number in _of_file(node)]
        for node in ast.walk(tree):
            if isinstance(node, Function) and node.name.startswith("test_"):
                own = [number for mark in node.decorator_list for number in _numbers(mark)]
                found[f"{path.relative_to(folder)}::{node.name}"] = own + of_file
    return found


def _of_file(node: ast.stmt) -> list[str]:
    """Return the numbers of `pytestmark = ...`."""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
        marks = node.value.elts if isinstance(node.value, ast.List) else [node.value]
        return [number for mark in marks for number in _numbers(mark)]
    return []


def _numbers(mark: ast.expr) -> list[str]:
    """Return the numbers in `pytest.mark.behaviour("A1", "A2")`."""
    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.behaviour":
        return [str(arg.value) for arg in mark.args if isinstance(arg, ast.Constant)]
    return []


def _list(title: str, items: list[str]) -> None:
    _print(f"{title}: {len(items) or 'none'}\n")
    for item in items:
        _print(f"  {item}\n")


def _print(text: str) -> None:
    sys.stdout.write(text)


if __name__ == "__main__":
    sys.exit(main() > 0)
