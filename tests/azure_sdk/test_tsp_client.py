"""tsp-client, the real one, generates from a specification in the workspace, without network."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents
from azure_sdk.test_typespec import MAIN
from lineshaft import Session
from lineshaft_azure_sdk.typespec import tsp_client_init, tsp_client_sync, tsp_client_update

PROJECT = "specs/specification/widget/Widget"
CLIENT = "sdk/widget/contoso-widget"
CONFIG = """parameters:
  "service-dir":
    default: "sdk/widget"
options:
  "@typespec/openapi3":
    emitter-output-dir: "{output-dir}/{service-dir}/contoso-widget"
"""
EMITTER = {
    "name": "dist/src/index.js",
    "dependencies": {"@typespec/openapi3": "1.9.0"},
    "devDependencies": {"@typespec/compiler": "1.9.0", "@typespec/http": "1.9.0"},
}
TOOLS = [tsp_client_init, tsp_client_sync, tsp_client_update]


@pytest.fixture
def repository(work: Path, npm_programs: Path, require: Callable[[str], str]) -> Path:
    """Return an SDK repository with a specification in it."""
    del npm_programs
    require("git")
    (work / PROJECT).mkdir(parents=True)
    (work / PROJECT / "main.tsp").write_text(MAIN)
    (work / PROJECT / "tspconfig.yaml").write_text(CONFIG)
    (work / "eng").mkdir()
    (work / "eng" / "emitter-package.json").write_text(json.dumps(EMITTER))
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    url = "https://github.com/Azure/azure-sdk-for-x.git"
    subprocess.run(["git", "-C", str(work), "remote", "add", "origin", url], check=True)
    return work


async def called(work: Path, tool: str, **given: Any) -> Any:
    async with Session(TOOLS, workspace=work) as session:
        return await session.call(f"azure_sdk.{tool}", given)


async def test_a_client_is_set_up_generated_again_synchronised_and_undone(
    repository: Path,
) -> None:
    before = contents(repository)
    given = {
        "config": f"{PROJECT}/tspconfig.yaml",
        "repository": "Azure/specs",
        "commit": "abc1234",
    }
    async with Session(TOOLS, workspace=repository) as session:
        made = await session.call("azure_sdk.tsp_client_init", given)
        assert made.error is None, made.error
        assert f"{CLIENT}/tsp-location.yaml" in made.value["changed"]
        location = (repository / CLIENT / "tsp-location.yaml").read_text()
        assert "directory: specification/widget/Widget" in location
        assert "commit: abc1234" in location
        api = repository / CLIENT / "openapi.yaml"
        assert "/widgets" in api.read_text()
        main = repository / PROJECT / "main.tsp"
        main.write_text(MAIN.replace("/widgets", "/gadgets"))
        where = {"folder": CLIENT, "specification": PROJECT}
        updated = await session.call("azure_sdk.tsp_client_update", where)
        assert updated.error is None, updated.error
        assert "/gadgets" in api.read_text()
        await session.undo(updated.run_id)
        assert "/widgets" in api.read_text()
        main.write_text("model X { a: Missing; }")
        failed = await session.call("azure_sdk.tsp_client_update", where)
        assert failed.error is not None
        assert " and changed nothing: " in failed.error.message
        assert "/widgets" in api.read_text()
        main.write_text(MAIN)
        synchronised = await session.call("azure_sdk.tsp_client_sync", where)
        assert synchronised.error is None, synchronised.error
        assert any("TempTypeSpecFiles" in path for path in synchronised.value["changed"])
        await session.undo(synchronised.run_id)
        await session.undo(made.run_id)
    after = contents(repository)
    assert {k: v for k, v in after.items() if ".git/" not in k} == {
        k: v for k, v in before.items() if ".git/" not in k
    }


async def test_what_is_missing_or_unsafe_is_refused(repository: Path) -> None:
    none = await called(repository, "tsp_client_init", config="none/tspconfig.yaml")
    assert none.error.code == "E_FILE_NOT_FOUND"
    for folder in ('a"b', "a$(x)", "a`x`", "a;b"):
        (repository / folder).mkdir()
        (repository / folder / "tspconfig.yaml").write_text(CONFIG)
        unsafe = await called(repository, "tsp_client_init", config=f"{folder}/tspconfig.yaml")
        assert unsafe.error.code == "E_INVALID_ARGS", folder
        assert "hand to a shell" in unsafe.error.message
    config = f"{PROJECT}/tspconfig.yaml"
    for more in ({"repository": "x"}, {"commit": "; ls"}):
        wrong = await called(repository, "tsp_client_init", config=config, **more)
        assert wrong.error.code == "E_INVALID_ARGS"
    update = await called(repository, "tsp_client_update", folder="eng", specification=PROJECT)
    assert "'eng/tsp-location.yaml'" in update.error.message
