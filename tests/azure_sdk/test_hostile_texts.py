"""Long texts that begin something again and again and never end it: all come to an end."""

from pathlib import Path

import pytest

from lineshaft import Session
from lineshaft.kit.words import read_jsonc
from lineshaft_azure_sdk.code import without_comments
from lineshaft_azure_sdk.readme import check_readme
from lineshaft_azure_sdk.readme.markdown import Prose

MEGABYTE = 1_000_000
LENGTH = 200_000
"""Of a text: what takes time in its square takes minutes."""

UNITS = (
    "[",
    "](",
    "](<",
    '[a](b "',
    "[a](none)",
    "{{",
    "```x\n",
    "` ",
    "<your",
    "# ",
    "[a]:\n",
    "[a]: <",
    "<a ",
    "<a name",
    "<a id = ",
    "]",
)


def of(unit: str, end: str = "") -> str:
    return (unit * (LENGTH // len(unit)))[: LENGTH - len(end) - 4] + end


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("end", ["", ")", "}", ">"])
def test_markdown_comes_to_an_end(unit: str, end: str) -> None:
    prose = Prose("# a\n" + of(unit, end))
    assert len(prose.text) <= LENGTH
    assert sum(1 for _ in prose.links()) <= LENGTH
    assert sum(len(found.text) for found in prose.placeholders()) <= 80 * LENGTH
    assert "a" in prose.anchors


@pytest.mark.parametrize("java", [True, False])
@pytest.mark.parametrize(
    "unit", ["/*", "/* ", '"""', '"', "'", "//", '\\"', "'\\", '"${', '"""${', "`", "{", '"}', "$"]
)
def test_code_comes_to_an_end(unit: str, java: bool) -> None:
    for texts in (True, False):
        code = without_comments(of(unit, '"'), texts=texts, java=java)
        assert len(code) <= LENGTH


async def test_a_readme_has_a_bounded_size_and_report(work: Path) -> None:
    readme = work / "README.md"
    readme.write_text("[a](none.md)\n" * 50_000)
    async with Session([check_readme], workspace=work) as session:
        done = await session.call("azure_sdk.check_readme", {"path": "README.md"})
        assert done.error is None, done.error
        assert len(done.value["problems"]) == 201
        assert "links: up to 2,000 are checked" in done.value["problems"][1]
        assert done.value["problems"][-1] == "and 1,802 more"
        readme.write_text("x" * (MEGABYTE + 1))
        large = await session.call("azure_sdk.check_readme", {"path": "README.md"})
    assert large.error is not None
    assert large.error.code == "E_TOO_LARGE"
    assert "has 1,000,001 bytes: a README of up to 1,000,000 is checked" in large.error.message


def test_what_is_nested_too_deep_is_malformed() -> None:
    with pytest.raises(ValueError, match=r"nested too deep|Expecting"):
        read_jsonc("[" * MEGABYTE)


def test_comments_and_texts_are_told_apart() -> None:
    code = """a /* x " */ b // "c
"d // /* \\" e" f '"' g \"\"\" h " // i \"\"\" j"""
    assert without_comments(code, texts=True, java=True).split() == [
        *("a", "b", '"d', "//", "/*", '\\"', 'e"', "f", "'", "'", "g"),
        *('"""', "h", '"', "//", "i", '"""', "j"),
    ]
    assert without_comments(code, texts=False, java=True).split() == [
        *("a", "b", '""', "f", "'", "'", "g", '""', "j"),
    ]
    assert without_comments("a /* b", texts=True) == "a  "


def test_code_in_a_text_of_typespec_is_code() -> None:
    code = (
        'a "b ${c { "d // ${e /* f */}" } g } // ${"h"} i" j `k // l` "\\${" m """n " ${o} " p"""'
    )
    assert without_comments(code, texts=False).split() == [
        *("a", '""c', "{", '""e', '""', "}", "g", '""""""', "j", "`k____l`", '""', "m"),
        *('""o""',),
    ]
    assert without_comments(code, texts=True) == code.replace("/* f */", " ")
