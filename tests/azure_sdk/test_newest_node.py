"""The newest cspell and TypeSpec compiler, on the newest Node, find what the others find."""

import os
import sys
from pathlib import Path

import pytest

from azure_sdk.test_typespec import MAIN
from lineshaft import Session
from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail import best_jail
from lineshaft_azure_sdk.spelling import check_spelling
from lineshaft_azure_sdk.typespec import compile_typespec

PLACE = Path(sys.prefix) / "azure-sdk-24"


@pytest.fixture
def newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the newest programs and their Node, or skip with what is missing."""
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a jail: {error.message}")
    programs = PLACE / "node_modules" / ".bin"
    if not ((programs / "cspell").exists() and (programs / "node").exists()):
        pytest.skip("needs the second set of npm packages and Node 24 from PyPI: ./dev check")
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_NODE", str(PLACE))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("newest")
async def test_the_newest_compiler_and_cspell_are_understood(work: Path) -> None:
    (work / "main.tsp").write_text(MAIN)
    (work / "broken.tsp").write_text("model A { b: Missing; }\n")
    (work / "README.md").write_text("# A\n\nRecieve it.\n")
    (work / "cspell.json").write_text('{"words": []}')
    async with Session([check_spelling, compile_typespec], workspace=work) as session:
        good = await session.call("azure_sdk.compile_typespec", {"path": "main.tsp"})
        assert good.error is None, good.error
        assert good.value["ok"], good.value
        bad = await session.call("azure_sdk.compile_typespec", {"path": "broken.tsp"})
        assert not bad.value["ok"]
        assert [each["code"] for each in bad.value["diagnostics"]] == ["invalid-ref"]
        found = await session.call("azure_sdk.check_spelling", {"files": ["README.md"]})
    assert found.error is None, found.error
    [word] = found.value["findings"]
    assert (word["word"], word["line"], word["fix"]) == ("Recieve", 3, "Receive")
