"""Writes the reference pages from the code: results, tools, commands, settings, errors.

`--check` compares the pages with the files and writes none.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import click

from lineshaft import errors, kit
from lineshaft.cli import _app as cli
from lineshaft.config import KEYS
from lineshaft.tools import Tool, signature

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parent.parent / "src" / "lineshaft"
RESULTS = {
    "values/_runs.py": (
        "RunResult", "CallResult", "Handled", "Preview", "CallRecord", "CallError", "RunError",
        "Usage", "Event",
    ),
    "values/_workspace.py": ("Change", "Finding"),
    "values/_calls.py": ("Pending", "Answer"),
}  # fmt: skip  # a table
TOOL_RESULTS = {
    "kit/_results.py": (
        "FileText", "Entries", "FileEntry", "Matches", "Match", "FileChange", "CommandResult",
    ),
    "kit/python/results.py": ("ProgramRan", "ProgramDidNotRun", "ProgramError"),
    "kit/fetch/tool.py": ("FetchedPage",),
}  # fmt: skip  # a table
EDITOR = FOLDER.parents[1] / "extensions" / "vscode" / "src"
CODE = re.compile(r'"((?:E|PYTHON)_[A-Z_]+)"')
NO_CODES = {"E_X", errors.AgentError.code}
"""What looks like a code in the source and is none, or stands for those that are given."""

MADE_ERROR = re.compile(r"\b([A-Z][A-Za-z]+)\(")
"""The call of a class, among them those of errors."""

MADE = "<!-- Made by ./dev reference. -->\n\n"


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    return {
        "results.md": _page("Results", "What runs and calls return in code.", _records(RESULTS)),
        "tools.md": _page("Built-in tools", _ABOUT_TOOLS, [*_tools(), *_records(TOOL_RESULTS)]),
        "commands.md": _page("Commands", "What `lineshaft` does.", _commands()),
        "settings.md": _page("Settings", _ABOUT_SETTINGS, _settings()),
        "errors.md": _page("Error codes", _ABOUT_ERRORS, _errors()),
    }


_ABOUT_TOOLS = (
    "What `kit.tools()` gives, and `fetch_url`, which comes where it is named. "
    "[Tools](../tools.md) has more."
)
_ABOUT_SETTINGS = "Every key of `lineshaft.toml`. [Configuration](../configuration.md) has more."
_ABOUT_ERRORS = (
    "What went wrong, and what to do; a code with several causes has a line for each. Names such "
    "as `limits.calls` are [settings](settings.md); in Python they are fields of `Limits` and "
    "`PythonOptions`, and arguments of `Session`."
)


def _page(title: str, about: str, parts: Sequence[str]) -> str:
    return f"{MADE}# {title}\n\n{about}\n\n" + "\n\n".join(parts) + "\n"


def _records(found: dict[str, tuple[str, ...]]) -> list[str]:
    parts: list[str] = []
    for file, names in found.items():
        tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        parts += [_record(classes[name]) for name in names]
    return parts


def _record(node: ast.ClassDef) -> str:
    rows = [f"| `{name}` | `{kind}` | {text} |" for name, kind, text in _fields(node)]
    head = f"## {node.name}\n\n{ast.get_docstring(node)}\n\n| field | type | meaning |\n"
    return head + "| --- | --- | --- |\n" + "\n".join(rows)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    for field, after in zip(node.body, [*node.body[1:], ast.Pass()], strict=True):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        name = field.target.id
        match after:
            case ast.Expr(value=ast.Constant(value=str(text))):
                kind = ast.unparse(field.annotation).replace("|", "\\|")
                yield name, kind, _cell(text)
            case _:
                sys.exit(f"{node.name}.{name} has no docstring")


def _tools() -> list[str]:
    offered = kit.tools("default", "fetch_url")
    return [_tool(offered[name]) for name in offered]


def _tool(tool: Tool) -> str:
    spec = tool.spec
    shown = f"```\n{signature(spec)}\n```"
    given = cast("dict[str, dict[str, str]]", spec.input_schema["properties"])
    rows = [f"| `{name}` | {_cell(one.get('description', ''))} |" for name, one in given.items()]
    table = "| argument | meaning |\n| --- | --- |\n" + "\n".join(rows)
    about = f"Effect `{spec.effect}`.\n\n{shown}\n\n{spec.description}"
    return f"## {spec.name}\n\n{about}\n\n{table}"


def _commands() -> list[str]:
    parts: list[str] = []
    for name, line in cli.COMMANDS.items():
        parts.append(f"## lineshaft {name}\n\n{line}" + _options(cli.loaded(name)))
    return parts


def _options(command: click.Command) -> str:
    rows: list[str] = []
    for each in command.params:
        said = each.get_help_record(click.Context(command))
        if said is not None:
            rows.append(f"| `{_cell(said[0])}` | {_cell(said[1])} |")
    return "\n\n| option | meaning |\n| --- | --- |\n" + "\n".join(rows) if rows else ""


def _settings() -> list[str]:
    rows = [
        f"| `{key.name}` | {_cell(key.allowed)} | {_default(key.default)} | {_cell(key.text)} |"
        for key in KEYS.values()
    ]
    return ["| key | allowed | built in | meaning |\n| --- | --- | --- | --- |\n" + "\n".join(rows)]


def _default(value: object) -> str:
    return "none" if value in (None, [], {}) else f"`{str(value).lower()}`"


def _errors() -> list[str]:
    told = tomllib.loads((FOLDER / "errors.toml").read_text(encoding="utf-8"))
    raised = raised_codes()
    if raised != set(told):
        lacks, more = sorted(raised - set(told)), sorted(set(told) - raised)
        sys.exit(f"errors.toml lacks {lacks}, and has {more}, which nothing raises")
    rows = [
        f"| `{code}` | {each['cause']} | {each['cure']} |"
        for code, causes in told.items()
        for each in causes
    ]
    return ["| code | cause | cure |\n| --- | --- | --- |\n" + "\n".join(rows)]


def raised_codes() -> set[str]:
    """Return the codes that something raises: by name, or as an error of a class that has it."""
    files = [*SOURCE.rglob("*.py"), *EDITOR.rglob("*.ts")]
    texts = [path.read_text(encoding="utf-8") for path in files if path != SOURCE / "errors.py"]
    named = {code for text in texts for code in CODE.findall(text)}
    made = {name for text in texts for name in MADE_ERROR.findall(text)}
    return named.union(kind.code for name, kind in _kinds() if name in made) - NO_CODES


def _kinds() -> Iterator[tuple[str, type[errors.LineshaftError]]]:
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, errors.LineshaftError):
            yield name, kind


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the pages, or name those that are out of date."""
    made = pages()
    if "--check" in sys.argv[1:]:
        stale = [name for name, text in made.items() if _before(FOLDER / name) != text]
        sys.exit(f"stale: {', '.join(stale)}; run ./dev reference" if stale else None)
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def _before(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    main()
