"""A README counts once its links lead somewhere and nothing in it is a placeholder."""

from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents, ends, refusals
from lineshaft import Session
from lineshaft.agents import AgentResult
from lineshaft.errors import AgentError
from lineshaft.testing import call, exit_with
from lineshaft_azure_sdk.readme import check_readme, readme

GOOD = """# Widget

This package talks to the widget service, see [its pages](https://learn.microsoft.com/azure/widget).
Install it, then read [an example](samples/one.py) or [the notes](notes.md#what-is-new-in-10).

## Getting started

See [above](#widget). ``[not a link](none.md) TODO`` is code.

```python
client = Client("<your endpoint>")  # TODO
```
"""
GIVEN = {
    "template": "template.md",
    "package": "sdk",
    "output": "sdk/README.md",
    "docs": "https://learn.microsoft.com/azure/widget",
}
DONE = exit_with(summary="written")


@pytest.fixture
def package(work: Path) -> Path:
    (work / "sdk" / "samples").mkdir(parents=True)
    (work / "sdk" / "samples" / "one.py").write_text("")
    (work / "sdk" / "notes.md").write_text("# Notes\n\n## What is *new* in 1.0\n")
    (work / "template.md").write_text("# {{name}}\n")
    return work


def write(content: str, path: str = "sdk/README.md") -> Any:
    return call("write_file", path=path, content=content)


async def test_a_dead_link_is_refused_then_the_readme_is_accepted(package: Path) -> None:
    dead = GOOD.replace("samples/one.py", "samples/two.py")
    replies = [write(dead), DONE, write(GOOD), DONE]
    ended, model = await ends(readme, replies, package, **GIVEN)
    assert isinstance(ended, AgentResult), ended
    assert "line 4: 'samples/two.py' leads to no file" in refusals(model)[0]
    assert (package / "sdk" / "README.md").read_text() == GOOD


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("#widget", "#gadget", "leads to no heading"),
        ("notes.md#what-is-new-in-10", "notes.md#none", "leads to no heading"),
        ("# Widget", "# {{name}}", "'{{name}}' is a placeholder"),
        ("Install it", "TODO: install it", "'TODO' is a placeholder"),
        ("Install it", "Use <your-name>", "is a placeholder"),
        ("com/azure", "com/en-us/azure", "is of one language"),
        ("Install it", "Read https://example.org/en-us/. Install it", "is of one language"),
        (GOOD, "# Widget\n", "that is no README"),
        ("notes.md", "../../../etc/passwd", "leads to no file"),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_is_written(
    package: Path, old: str, new: str, told: str
) -> None:
    before = contents(package)
    replies = [write(GOOD.replace(old, new)), DONE, call("GiveUp", reason="x")]
    ended, model = await ends(readme, replies, package, **GIVEN)
    assert isinstance(ended, AgentError)
    assert told in refusals(model)[0]
    assert contents(package) == before


async def test_no_other_file_may_be_written_and_one_must(package: Path) -> None:
    replies = [DONE, write("x", "notes.md"), DONE, call("GiveUp", reason="x")]
    ended, model = await ends(readme, replies, package, **GIVEN)
    assert isinstance(ended, AgentError)
    first, second = refusals(model)
    assert "sdk/README.md" in first
    assert second.startswith("notes.md was changed")


async def test_addresses_of_the_web_are_said_to_be_unchecked(package: Path) -> None:
    (package / "sdk" / "README.md").write_text(GOOD)
    async with Session([check_readme], workspace=package) as session:
        done = await session.call("azure_sdk.check_readme", {"path": "sdk/README.md"})
    assert done.value == {
        "problems": [],
        "unchecked": ["https://learn.microsoft.com/azure/widget"],
    }


async def test_links_lead_to_titles_with_code_and_underlined_ones_and_to_files_with_a_query(
    package: Path,
) -> None:
    text = """Widget
======

See [login](#use-az-login-first), [client](#widgetclient), [top](#widget), [more](#read-more),
[one](samples/one.py?raw=true) and [none](#raw).

## Use `az login` first
## `WidgetClient`

Read more
---------
"""
    (package / "sdk" / "README.md").write_text(text)
    async with Session([check_readme], workspace=package) as session:
        done = await session.call("azure_sdk.check_readme", {"path": "sdk/README.md"})
    assert done.value == {
        "problems": ["line 5: '#raw' leads to no heading"],
        "unchecked": [],
    }


async def test_brackets_in_pairs_belong_to_a_target(package: Path) -> None:
    (package / "sdk" / "notes (old).md").write_text("# Notes\n")
    text = """# Widget

See [Widget](https://en.wikipedia.org/wiki/Widget_(GUI)), [notes](notes%20(old).md "Old") and
([there](https://example.org/a(b(c)))).
"""
    (package / "sdk" / "README.md").write_text(text)
    async with Session([check_readme], workspace=package) as session:
        done = await session.call("azure_sdk.check_readme", {"path": "sdk/README.md"})
    assert done.value == {
        "problems": [],
        "unchecked": ["https://en.wikipedia.org/wiki/Widget_(GUI)", "https://example.org/a(b(c))"],
    }


async def test_footnotes_marks_and_names_of_elements_are_read_as_code_hosts_do(
    package: Path,
) -> None:
    (package / "sdk" / "my notes.md").write_text("# Notes\n")
    text = """\ufeff# Widget

Old[^1], [a note][n], [up](#top), [here](#here), [there](#there), [below](#below), [none][x].

<h2 class="x" id="here">Here</h2><a name=there></a>

Below
-----

[^1]: See the docs.
[n]: <my notes.md> "Notes"
[x]: none.md
"""
    (package / "sdk" / "README.md").write_bytes(text.replace("\n", "\r\n").encode())
    async with Session([check_readme], workspace=package) as session:
        done = await session.call("azure_sdk.check_readme", {"path": "sdk/README.md"})
    assert done.value == {"problems": ["line 12: 'none.md' leads to no file"], "unchecked": []}


async def test_bare_addresses_are_links_and_each_is_told_once(package: Path) -> None:
    text = """# Widget

See https://example.org/a, (https://example.org/b) and <https://example.org/c>,
[old](https://archive.org/web/https://example.org/d), `https://example.org/e` and [f].

[f]: https://example.org/f
"""
    (package / "sdk" / "README.md").write_text(text)
    async with Session([check_readme], workspace=package) as session:
        done = await session.call("azure_sdk.check_readme", {"path": "sdk/README.md"})
    places = [address.removeprefix("https://") for address in sorted(done.value["unchecked"])]
    assert places == [
        "archive.org/web/https://example.org/d",
        *("example.org/a", "example.org/b", "example.org/c", "example.org/f"),
    ]
