"""TypeSpec is changed where the real compiler accepts it, and a way around is refused."""

from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents, ends, refusals
from lineshaft import Session
from lineshaft.agents import AgentResult
from lineshaft.errors import AgentError
from lineshaft.testing import call, exit_with
from lineshaft_azure_sdk.typespec import (
    compile_typespec,
    typespec_customization,
    typespec_repair,
)

FOLDER = "specification/widget/Widget"
ENTRY = f"{FOLDER}/client.tsp"
MAIN = """import "@typespec/http";
using Http;

@service(#{ title: "Widget" })
namespace Widgets;

model Widget {
  id: string;
}

@route("/widgets")
interface Store {
  @get read(@path id: string): Widget;
}
"""
CLIENT = """import "./main.tsp";
import "@azure-tools/typespec-client-generator-core";
using Azure.ClientGenerator.Core;

@@clientName(Widgets.Store, "WidgetStore");
"""
BROKEN = CLIENT.replace("Widgets.Store,", "Widgets.Storage,")


@pytest.fixture
def project(work: Path) -> Path:
    folder = work / FOLDER
    folder.mkdir(parents=True)
    (folder / "main.tsp").write_text(MAIN)
    (folder / "client.tsp").write_text(CLIENT)
    (folder / "tspconfig.yaml").write_text("emit: []\n")
    return work


def patch(old: str, new: str, path: str = ENTRY) -> Any:
    return call("azure_sdk__patch_file", path=path, old=old, new=new)


def write(path: str, content: str) -> Any:
    return call("write_file", path=path, content=content)


COMPILE = call("azure_sdk__compile_typespec", path=ENTRY)
REPAIRED = exit_with(repaired=["the name of the interface"])
GIVE_UP = call("GiveUp", reason="no way around")


async def compiled(work: Path, path: str = ENTRY) -> Any:
    async with Session([compile_typespec], workspace=work) as session:
        return (await session.call("azure_sdk.compile_typespec", {"path": path})).value


@pytest.mark.usefixtures("npm_programs")
async def test_a_project_that_did_not_compile_does(project: Path) -> None:
    (project / ENTRY).write_text(BROKEN)
    before = await compiled(project)
    assert before["ok"] is False
    [found] = [each for each in before["diagnostics"] if each["severity"] == "error"]
    assert (found["path"], found["line"], found["code"]) == (ENTRY, 5, "invalid-ref")
    replies = [COMPILE, REPAIRED, patch("Widgets.Storage", "Widgets.Store"), REPAIRED]
    ended, model = await ends(typespec_repair, replies, project, path=ENTRY)
    assert isinstance(ended, AgentResult), ended
    assert "invalid-ref" in model.requests[1].messages[-1].text
    assert f"{ENTRY}:5:" in refusals(model)[0]
    assert "does not accept it" in refusals(model)[0]
    assert (project / ENTRY).read_text() == CLIENT
    assert await compiled(project) == {"ok": True, "diagnostics": [], "output": ""}


@pytest.mark.usefixtures("npm_programs")
async def test_a_file_that_is_named_like_an_option_is_compiled(project: Path) -> None:
    (project / FOLDER / "--help").write_text("model {")
    assert (await compiled(project, f"{FOLDER}/--help"))["ok"] is False


@pytest.mark.usefixtures("npm_programs")
async def test_a_client_is_customised_and_the_compiler_is_asked(project: Path) -> None:
    replies = [
        patch('"WidgetStore");\n', '"WidgetStore");\n@@clientName(Widgets.Widget, "Gadget");\n'),
        COMPILE,
        exit_with(changes=["Widget is called Gadget"]),
    ]
    given = {"path": ENTRY, "request": "Rename Widget to Gadget."}
    ended, model = await ends(typespec_customization, replies, project, **given)
    assert isinstance(ended, AgentResult), ended
    assert '"ok": true' in model.requests[2].messages[-1].text
    assert "Gadget" in (project / ENTRY).read_text()


SCRIPT = 'import { writeFileSync } from "fs"; writeFileSync("made.txt", "x");'
CHEATS: list[tuple[str, list[Any], str]] = [
    ("empty file", [write(ENTRY, "")], "these were removed"),
    (
        "customisation removed",
        [patch('@@clientName(Widgets.Storage, "WidgetStore");', "")],
        "@@clientName",
    ),
    (
        "customisation commented out",
        [patch("@@clientName", "// @@clientName")],
        "@@clientName",
    ),
    (
        "suppressed",
        [patch("@@clientName", '#suppress "invalid-ref" "x"\n@@clientName')],
        "got a #suppress",
    ),
    (
        "a program",
        [write(f"{FOLDER}/x.mjs", SCRIPT), patch('import "./main.tsp";', 'import "./x.mjs";')],
        "imports './x.mjs'",
    ),
    (
        "a program that is there",
        [patch('import "./main.tsp";', 'import "./main.tsp";\nimport "./there.js";')],
        "imports './there.js'",
    ),
    (
        "a program in three quotes",
        [patch('import "./main.tsp";', 'import "./main.tsp";\nimport """\n./there.js\n""";')],
        "imports './there.js'",
    ),
    (
        "suppressed in what is no comment",
        [patch("@@clientName", 'alias A = "${"/*"}";\n#suppress "x" "*/"\n@@clientName')],
        "got a #suppress",
    ),
    (
        "suppressed behind a text that holds code",
        [patch("@@clientName", 'alias A = "${"/*"} b"; #/**/suppress "x" "y"\n@@clientName')],
        "got a #suppress",
    ),
    (
        "suppressed behind a name in backticks",
        [patch("@@clientName", 'alias `a//b` = string; #/**/suppress "x" "y"\n@@clientName')],
        "got a #suppress",
    ),
    (
        "suppressed in backticks",
        [patch("@@clientName", '#`suppress` "invalid-ref" "x"\n@@clientName')],
        "got a #suppress",
    ),
    (
        "a description in a text in the place of one that is removed",
        [
            patch(
                "model Widget {\n  id: string;\n}\n",
                'alias A = "${"model Widget"} b";\n',
                f"{FOLDER}/main.tsp",
            )
        ],
        "these were removed, and the result does not name them in `removed`: Widget",
    ),
    (
        "a description in a name in the place of one that is removed",
        [
            patch(
                "model Widget {\n  id: string;\n}\n",
                "alias `model Widget .` = string;\n",
                f"{FOLDER}/main.tsp",
            )
        ],
        "these were removed, and the result does not name them in `removed`: Widget",
    ),
    ("configuration", [write(f"{FOLDER}/tspconfig.yaml", "")], "only .tsp files"),
    ("nothing done", [], "does not accept it"),
    (
        "the description removed",
        [patch("model Widget {\n  id: string;\n}\n", "", f"{FOLDER}/main.tsp")],
        "these were removed, and the result does not name them in `removed`: Widget",
    ),
]


@pytest.mark.usefixtures("npm_programs")
@pytest.mark.parametrize(
    ("turns", "told"), [case[1:] for case in CHEATS], ids=[case[0] for case in CHEATS]
)
async def test_a_way_around_is_refused_and_leaves_the_folder_as_it_was(
    project: Path, turns: list[Any], told: str
) -> None:
    (project / ENTRY).write_text(BROKEN)
    (project / FOLDER / "there.js").write_text(SCRIPT)
    before = contents(project)
    replies = [*turns, REPAIRED, GIVE_UP]
    ended, model = await ends(typespec_repair, replies, project, path=ENTRY)
    assert isinstance(ended, AgentError)
    assert ended.code == "E_AGENT_GAVE_UP"
    [refused] = refusals(model)
    assert told in refused
    assert contents(project) == before


@pytest.mark.usefixtures("npm_programs")
async def test_a_removal_counts_where_the_result_names_it(project: Path) -> None:
    (project / ENTRY).write_text(BROKEN)
    replies = [
        patch('@@clientName(Widgets.Storage, "WidgetStore");\n', ""),
        exit_with(repaired=["x"], removed=["@@clientName"]),
    ]
    ended, _ = await ends(typespec_repair, replies, project, path=ENTRY)
    assert isinstance(ended, AgentResult), ended


@pytest.mark.usefixtures("npm_programs")
async def test_what_a_project_runs_while_it_is_compiled_changes_nothing(project: Path) -> None:
    (project / FOLDER / "there.js").write_text(SCRIPT)
    (project / ENTRY).write_text(f'{CLIENT}import "./there.js";\n')
    before = contents(project)
    await compiled(project)
    assert contents(project) == before
