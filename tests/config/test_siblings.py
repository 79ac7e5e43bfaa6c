"""Tools files that import what lies beside them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lineshaft.config import Settings, approve, read_settings, tools, unapproved
from lineshaft.errors import ConfigError
from lineshaft.tools import Tool

USES = '''
{imports}
from lineshaft import tool

@tool(effect="read")
def {name}() -> str:
    """Return what the sibling says."""
    {first}
    return {value}
'''

Given = Callable[..., Settings]


def uses(imports: str, value: str, *, name: str = "told", first: str = "pass") -> str:
    return USES.format(imports=imports, value=value, name=name, first=first)


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def given(project: Path, environ: dict[str, str]) -> Given:
    """Return a function that names files by hand, as `--tools` does."""

    def read(*names: str | Path) -> Settings:
        flags = {"tools.kit": False, "tools.modules": [str(project / name) for name in names]}
        return read_settings(project, flags=flags, environ=environ)

    return read


def said(tool: Tool) -> object:
    return tool()


@pytest.mark.parametrize(
    ("imports", "value"),
    [
        ("import helper", "helper.WORD"),
        ("import helper as h", "h.WORD"),
        ("from helper import WORD", "WORD"),
        ("from .helper import WORD", "WORD"),
        ("from . import helper", "helper.WORD"),
        ("from helper import (\n    WORD,  # (the word)\n)", "WORD"),
        ("import os, helper", "helper.WORD"),
        ("import os; import helper", "helper.WORD"),
        ("from \\\n  helper import WORD", "WORD"),
        ("import pack.inner", "pack.inner.WORD"),
        ("from pack import inner", "inner.WORD"),
        ("from pack.inner import WORD", "WORD"),
        ("import plain.deep.er", "plain.deep.er.WORD"),
        ("from über import WORD", "WORD"),
        ("import calendar", "calendar.WORD"),
    ],
)
def test_a_tools_file_imports_what_lies_beside_it(
    project: Path, given: Given, imports: str, value: str
) -> None:
    write(
        project,
        {
            "own/t.py": uses(imports, value),
            "own/helper.py": "from deeper import WORD",
            "own/deeper.py": "WORD = 'yes'",
            "own/über.py": "WORD = 'yes'",
            "own/calendar.py": "WORD = 'yes'",
            "own/pack/__init__.py": "",
            "own/pack/inner.py": "from .sub.leaf import WORD\nimport helper",
            "own/pack/sub/__init__.py": "from .. import sub",
            "own/pack/sub/leaf.py": "from ...helper import WORD",
            "own/plain/deep/er.py": "from helper import WORD",
        },
    )
    assert said(tools(given("own/t.py"))["told"]) == "yes"


def test_an_import_inside_a_function_finds_its_sibling_later(project: Path, given: Given) -> None:
    late = uses("", "WORD", first="from helper import WORD")
    write(project, {"own/t.py": late, "own/helper.py": "WORD = 'yes'"})
    told = tools(given("own/t.py"))["told"]
    (project / "own/helper.py").write_text("WORD = 'changed'", encoding="utf-8")
    assert said(told) == "yes"


def test_two_folders_have_siblings_of_one_name(project: Path, given: Given) -> None:
    for folder in ("a", "b"):
        text = uses("from helper import WORD", "WORD", name=f"told_{folder}")
        write(project, {f"{folder}/t.py": text, f"{folder}/helper.py": f"WORD = {folder!r}"})
    found = tools(given("a/t.py", "b/t.py"))
    assert [said(found["told_a"]), said(found["told_b"])] == ["a", "b"]
    with pytest.raises(ModuleNotFoundError):
        __import__("helper")


def test_files_of_one_folder_share_their_siblings(project: Path, given: Given) -> None:
    for name in ("a", "b"):
        first = f"held.append({name!r})"
        text = uses("from helper import held", "str(held)", name=name, first=first)
        write(project, {f"own/{name}.py": text})
    write(project, {"own/helper.py": "held = []"})
    found = tools(given("own/a.py", "own/b.py"))
    assert [said(found["a"]), said(found["b"])] == ["['a']", "['a', 'b']"]


def test_a_changed_sibling_is_read_again(project: Path, given: Given) -> None:
    files = {"own/t.py": uses("from helper import WORD", "WORD"), "own/helper.py": "WORD = 'old'"}
    write(project, files)
    before = tools(given("own/t.py"))["told"]
    write(project, {"own/helper.py": "WORD = 'new'"})
    after = tools(given("own/t.py"))["told"]
    assert [said(before), said(after)] == ["old", "new"]


def test_an_approval_covers_what_is_imported_from_the_folder(
    project: Path, environ: dict[str, str]
) -> None:
    write(
        project,
        {
            "lineshaft.toml": '[tools]\nkit = []\nmodules = ["./t.py"]',
            "t.py": uses("from helper import WORD", "WORD"),
            "helper.py": "WORD = 'yes'",
            "other.py": "",
        },
    )
    settings = read_settings(project, environ=environ)
    (asked,) = unapproved(settings.modules, environ=environ)
    assert [file.name for file in asked.files] == ["t.py", "helper.py"]
    approve(asked, environ=environ)
    assert said(tools(settings, environ=environ)["told"]) == "yes"
    write(project, {"helper.py": "WORD = 'no'"})
    with pytest.raises(ConfigError, match="is not approved yet"):
        tools(settings, environ=environ)


def test_what_no_import_statement_names_is_not_imported(project: Path, given: Given) -> None:
    text = uses("name = 'helper'\n__import__(name)", "''")
    write(project, {"own/t.py": text, "own/helper.py": "print('never')"})
    with pytest.raises(ConfigError, match="No module named 'helper'"):
        tools(given("own/t.py"))


def test_a_sibling_that_does_not_start_is_named_with_its_line(project: Path, given: Given) -> None:
    write(project, {"own/t.py": uses("import helper", "''"), "own/helper.py": "\n1 / 0"})
    with pytest.raises(ConfigError, match=r"division by zero \(helper\.py, line 2\)"):
        tools(given("own/t.py"))


def test_a_folder_named_lineshaft_does_not_hide_the_library(project: Path, given: Given) -> None:
    write(project, {"own/t.py": uses("", "'yes'"), "own/lineshaft.py": "1 / 0"})
    assert said(tools(given("own/t.py"))["told"]) == "yes"


@pytest.mark.no_cover
@pytest.mark.long
@pytest.mark.parametrize("text", ["from " + "." * 2_000_000, "from x import (\n" * 200_000])
def test_a_text_made_to_be_slow_is_not(project: Path, given: Given, text: str) -> None:
    write(project, {"own/t.py": f"'''\n{text}\n'''\n" + uses("", "'yes'")})
    assert said(tools(given("own/t.py"))["told"]) == "yes"
