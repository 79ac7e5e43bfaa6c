"""Java customisations are patched where the real Maven compiles them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents, ends, refusals
from lineshaft.agents import AgentResult
from lineshaft.errors import AgentError, NoBoundary
from lineshaft.sandbox.jail import best_jail
from lineshaft.testing import call, exit_with
from lineshaft_azure_sdk.java import java_patch

POM = """<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId>
<version>1</version><properties><maven.compiler.source>17</maven.compiler.source>
<maven.compiler.target>17</maven.compiler.target></properties></project>
"""
SOURCES = "src/main/java/widget"
GENERATED = """package widget;

public class Client {
    public String fetch() {
        return "x";
    }
}
"""
GUARDED = """        if (client == null) {
            return "";
        }
        return client.get()"""
BODY = f"""    public String shout(widget.Client client) {{
{GUARDED}.toUpperCase();
    }}
"""
CUSTOM = f"""package widget.custom;

public class Custom {{
{BODY}}}
"""
FILE = f"{SOURCES}/custom/Custom.java"
DEBIAN = Path("/usr/share/maven-repo")


@pytest.fixture
def package(work: Path, require: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package whose customisation calls a method that is called `fetch` by now."""
    require("mvn")
    require("javac")
    if not (DEBIAN / "org/apache/maven/plugins/maven-resources-plugin").exists():
        pytest.skip(
            "needs Maven's plugins (Debian: apt install libmaven-compiler-plugin-java"
            " libmaven-resources-plugin-java libsurefire-java libmaven-jar-plugin-java junit5)"
        )
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a jail: {error.message}")
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_MAVEN", str(DEBIAN))
    (work / SOURCES / "custom").mkdir(parents=True)
    (work / "pom.xml").write_text(POM)
    (work / SOURCES / "Client.java").write_text(GENERATED)
    (work / FILE).write_text(CUSTOM)
    return work


def patch(old: str, new: str, path: str = FILE) -> Any:
    return call("azure_sdk__patch_file", path=path, old=old, new=new)


GIVEN = {"package": ".", "customization": f"{SOURCES}/custom"}
DONE = exit_with(patched=[FILE], summary="get is called fetch")


async def test_the_customisation_compiles_again(package: Path) -> None:
    replies = [
        call("azure_sdk__compile_java", package="."),
        DONE,
        patch(GUARDED, "        return client.fetch()"),
        DONE,
    ]
    ended, model = await ends(java_patch, replies, package, **GIVEN)
    assert isinstance(ended, AgentResult), ended
    assert "cannot find symbol" in model.requests[1].messages[-1].text
    assert "does not compile" in refusals(model)[0]
    assert (package / FILE).read_text() == CUSTOM.replace(GUARDED, "        return client.fetch()")
    assert not (package / "target").exists()


CHEATS: list[tuple[str, list[Any], str]] = [
    (
        "generated code",
        [patch("fetch()", "get()", f"{SOURCES}/Client.java")],
        "only Java files below",
    ),
    ("method removed", [patch(BODY, "")], "lost shout"),
    ("method commented out", [patch(BODY, f"/*\n{BODY}*/\n")], "lost shout"),
    (
        "method in a text",
        [patch(BODY, '    String said = "shout() {";\n'), patch("client.get()", "client.fetch()")],
        "lost shout",
    ),
    ("emptied", [patch(CUSTOM, "")], "lost Custom"),
    (
        "build",
        [patch("<version>1<", "<packaging>pom</packaging><version>1<", "pom.xml")],
        "pom.xml",
    ),
]


@pytest.mark.parametrize(
    ("turns", "told"), [case[1:] for case in CHEATS], ids=[case[0] for case in CHEATS]
)
async def test_a_way_around_is_refused_and_leaves_the_folder_as_it_was(
    package: Path, turns: list[Any], told: str
) -> None:
    before = contents(package)
    replies = [*turns, DONE, call("GiveUp", reason="no way around")]
    ended, model = await ends(java_patch, replies, package, **GIVEN)
    assert isinstance(ended, AgentError)
    [refused] = refusals(model)
    assert told in refused
    assert contents(package) == before
