"""The packages that carry a Python: what is built, what was tried, and why the rest is not."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from lineshaft.sandbox.bundle import unresolved_libraries
from remote.vscode.editor import ROOT, VSIX

TARGETS: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "extensions/vscode/platforms/targets.json").read_text()
)
BUILT = [name for name, target in TARGETS.items() if "unbuilt" not in target]
PLATFORMS = {
    *("win32-x64", "win32-arm64", "linux-x64", "linux-arm64", "linux-armhf"),
    *("alpine-x64", "alpine-arm64", "darwin-x64", "darwin-arm64", "web"),
}
"""All for which VS Code takes a package of its own."""

PROCESSORS = {"x86_64": 62, "aarch64": 183}
"""As ELF numbers them."""


def said(name: str) -> str:
    """Return what the docs have to say of a platform."""
    target = TARGETS[name]
    if "unbuilt" in target:
        return f"| `{name}` | unbuilt | {target['unbuilt']} |"
    if "untried" in target:
        return f"| `{name}` | built, untried | needs {target['requires']}; {target['untried']} |"
    return f"| `{name}` | built, tried | needs {target['requires']} |"


def test_of_each_platform_the_manifest_and_the_docs_say_what_there_is() -> None:
    assert set(TARGETS) == PLATFORMS
    docs = (ROOT / "docs" / "editor.md").read_text()
    assert [said(name) for name in TARGETS if said(name) not in docs] == []


@pytest.mark.parametrize("name", BUILT)
def test_a_package_is_whole_and_of_its_processor_alone(name: str, tmp_path: Path) -> None:
    vsix = VSIX.with_name(f"lineshaft-{name}.vsix")
    if not vsix.is_file():
        pytest.skip("needs the packages of platforms: ./dev vsix --platforms makes them")
    with ZipFile(vsix) as package:
        assert f'TargetPlatform="{name}"' in package.read("extension.vsixmanifest").decode()
        inside = [each for each in package.namelist() if each.startswith("extension/python/")]
        package.extractall(tmp_path, inside)
    python = tmp_path / "extension" / "python"
    assert unresolved_libraries(python) == ()
    program = python / "bin" / f"python{TARGETS[name]['python']}"
    machine = int.from_bytes(program.read_bytes()[18:20], "little")
    assert machine == PROCESSORS[TARGETS[name]["machine"]]
    assert list(python.glob("lib/python3.*/dist-packages/lineshaft/__pycache__/*.pyc"))
