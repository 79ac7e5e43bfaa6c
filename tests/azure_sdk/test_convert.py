"""Swagger becomes TypeSpec in a fresh folder, and nothing that is there is overwritten unasked."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents
from lineshaft import Policy, Session
from lineshaft_azure_sdk.typespec import compile_typespec, tsp_client_convert

HOME = Path(sys.prefix) / "azure-sdk-autorest"
SWAGGER = Path(__file__).parents[2] / "packages/lineshaft-azure-sdk/node/autorest"
EXTENSIONS = (
    "@autorest_core@3.10.9",
    "@autorest_modelerfour@4.27.3",
    "@autorest_openapi-to-typespec@0.11.9",
)


@pytest.fixture
def specification(work: Path) -> Path:
    shutil.copytree(SWAGGER, work / "specs")
    return work


@pytest.fixture(autouse=True)
def _nothing_is_left(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    own = tmp_path_factory.mktemp("temporary")
    private = own / f"lineshaft-{os.geteuid()}"
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(own))
    yield
    assert [path.name for path in own.glob("*") if path.name != private.name] == []
    assert list(private.glob("*")) == []


@pytest.fixture
def autorest(npm_programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name AutoRest's home, or skip with what is missing."""
    if not (npm_programs / "node_modules" / ".bin" / "autorest").exists():
        pytest.skip("needs autorest among the npm packages of the pack")
    found = [path.name for path in HOME.glob(".autorest/@autorest_*@*")]
    if sorted(found) != sorted(EXTENSIONS):
        pytest.skip(f"needs AutoRest's extensions {', '.join(EXTENSIONS)} in {HOME.name}")
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_AUTOREST", str(HOME))


async def converted(work: Path, mode: Any = "open", **given: Any) -> Any:
    arguments = {"readme": "specs/readme.md", "output": "project", **given}
    async with Session([tsp_client_convert], workspace=work, policy=Policy(mode)) as session:
        return await session.call("azure_sdk.tsp_client_convert", arguments)


@pytest.mark.usefixtures("autorest")
async def test_swagger_is_converted_compared_and_staged(specification: Path) -> None:
    before = contents(specification)
    tools = [tsp_client_convert, compile_typespec]
    async with Session(tools, workspace=specification, policy=Policy("open")) as session:
        given = {"readme": "specs/readme.md", "output": "project"}
        done = await session.call("azure_sdk.tsp_client_convert", given)
        assert done.error is None, done.error
        made = {f"project/{name}.tsp" for name in ("client", "main", "models", "routes")}
        assert {*done.value["changed"]} == {*made, "project/tspconfig.yaml"}
        after = contents(specification)
        assert after.keys() - before.keys() == {*done.value["changed"]}
        assert b"model Widget" in after["project/models.tsp"]
        routes = specification / "project" / "routes.tsp"
        routes.write_text("// mine\n")
        (specification / "project" / "models.tsp").unlink()
        over = await session.call("azure_sdk.tsp_client_convert", {**given, "existing": "add"})
        assert over.error is not None
        assert over.error.message == "these files would be overwritten: project/routes.tsp"
        assert not (specification / "project" / "models.tsp").exists()
        given = {**given, "existing": "overwrite"}
        again = await session.call("azure_sdk.tsp_client_convert", given)
        assert again.error is None, again.error
        assert again.value["changed"] == ["project/models.tsp", "project/routes.tsp"]
        assert contents(specification) == after
        await session.undo(again.run_id)
        assert routes.read_text() == "// mine\n"


@pytest.mark.usefixtures("autorest")
async def test_what_is_there_or_unsafe_is_refused_and_each_call_asks(specification: Path) -> None:
    (specification / "project").mkdir()
    (specification / "file").write_text("")
    before = contents(specification)
    there = await converted(specification)
    assert there.error.message == "the folder 'project' is there already"
    assert "is no folder" in (await converted(specification, output="file")).error.message
    assert (await converted(specification, readme="none.md")).error.code == "E_FILE_NOT_FOUND"
    unsafe = await converted(specification, output='a"$(x)')
    assert unsafe.error.code == "E_INVALID_ARGS"
    asks = await converted(specification, "auto", output="new")
    assert [each.tool for each in asks.pending] == ["azure_sdk.tsp_client_convert"]
    (specification / "specs" / "swagger.json").write_text("{")
    failed = await converted(specification, output="new")
    assert " and changed nothing: " in failed.error.message
    (specification / "specs" / "swagger.json").write_bytes(before["specs/swagger.json"])
    assert contents(specification) == before


@pytest.mark.usefixtures("autorest")
async def test_conversions_at_once_do_not_disturb_each_other(specification: Path) -> None:
    names = ("first", "second")
    done = await asyncio.gather(*(converted(specification, output=name) for name in names))
    assert [each.error for each in done] == [None, None]
    first, second = ({path.name for path in (specification / name).iterdir()} for name in names)
    assert first == second >= {"main.tsp", "models.tsp", "routes.tsp"}


@pytest.mark.usefixtures("autorest")
async def test_a_conversion_that_is_cancelled_leaves_nothing(specification: Path) -> None:
    before = contents(specification)
    private = Path(tempfile.gettempdir()) / f"lineshaft-{os.geteuid()}"
    running = asyncio.ensure_future(converted(specification))
    while not list(private.glob("*/temporary/autorest-*")):
        assert not running.done(), running.result()
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    if behind := [task for task in asyncio.all_tasks() if task.cancelling()]:
        await asyncio.wait(behind)
    assert contents(specification) == before


async def test_without_autorest_in_known_versions_it_says_what_to_install(
    specification: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LINESHAFT_AZURE_SDK_AUTOREST", raising=False)
    unnamed = await converted(specification)
    assert unnamed.error.code == "E_FILE_NOT_FOUND"
    assert "names no home of AutoRest" in unnamed.error.message
    assert "tsp-openapi3" in unnamed.error.hint
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_AUTOREST", str(tmp_path))
    (tmp_path / ".autorest" / EXTENSIONS[0]).mkdir(parents=True)
    other = await converted(specification)
    assert "has no @autorest/modelerfour in version 4.27.3" in other.error.message
    for name in EXTENSIONS[1:]:
        (tmp_path / ".autorest" / name).mkdir()
    (tmp_path / ".autorest" / "@autorest_core@9.9.9").mkdir()
    newer = await converted(specification)
    assert "has @autorest_core@9.9.9 in its home" in newer.error.message
    (tmp_path / ".autorest" / "@autorest_core@9.9.9").rmdir()
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_NODE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "npm install" in (await converted(specification)).error.hint
