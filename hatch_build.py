"""The build's own step: the image of Python for WebAssembly, made where there is none yet.

The image is the guest (`engines/guest`), CPython and its standard library in one component. Wheel
and sdist carry it, so that one release has one image and installing needs no `componentize-py`.
"""

import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))  # a build does not look beside its hook

from image_build.immortal import make_immortal
from image_build.memory import ImageMemory

ROOM = Path("src", "lineshaft", "sandbox", "webassembly")
GUEST = Path("src", "lineshaft", "engines", "guest")
BUILD = Path("image_build")
APP = "lineshaft_image"
FACTS = re.compile(rb"lineshaft facts (\{[^\0]*?\}) end of facts")
TOOL = "componentize-py"
PAGES = ("beautifulsoup4", "markdownify", "six", "soupsieve", "typing-extensions")
"""Packages in the image, for the guest alone: HTML to Markdown."""

LICENCES = (TOOL, "tzdata", *PAGES)


class ImageHook(BuildHookInterface[Any]):
    """Makes the image before files are collected."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Name what makes an image, if one has to be made."""
        return [] if is_made(Path(self.root)) else tools(Path(self.root))

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the image, unless there is one of the same sources."""
        del version
        root = Path(self.root)
        if not is_made(root):
            self.app.display_info("making the image of Python for WebAssembly, some 20 seconds")
            make(root)
        build_data["artifacts"].append(f"/{(ROOM / 'image').as_posix()}/")


def tools(root: Path) -> list[str]:
    """Return the exact versions of what makes the image."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    named = [each for name in ("build", "pages") for each in groups[name]]
    return [each for each in named if isinstance(each, str) and "==" in each]


def sources(root: Path) -> dict[str, bytes]:
    """Return all that the image is made from, by the names under which it is staged."""
    inside = root / ROOM / "inside"
    found = {path.name: path.read_bytes() for path in inside.iterdir() if path.is_file()}
    for path in (root / GUEST).rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            found[f"_lineshaft/{path.relative_to(root / GUEST).as_posix()}"] = path.read_bytes()
    return found


def sources_digest(root: Path) -> str:
    """Return what an image has to have been made from."""
    digest = hashlib.sha256(repr(sorted(tools(root))).encode())
    for path in (Path(__file__), *sorted((root / BUILD).glob("*.py"))):
        digest.update(path.read_bytes())
    for name, data in sorted(sources(root).items()):
        digest.update(repr((name, len(data))).encode() + data)
    return digest.hexdigest()


def is_made(root: Path) -> bool:
    """Return whether there is an image of these sources."""
    folder = root / ROOM / "image"
    try:
        facts = json.loads((folder / "facts.json").read_bytes())
    except (OSError, ValueError):
        return False
    made = facts.get("sources") == sources_digest(root)
    return made and (folder / "guest.wasm.zlib").is_file()


def make(root: Path) -> None:
    """Make the image, its facts and the licences of what is in it."""
    wanted = sources_digest(root)
    with tempfile.TemporaryDirectory() as place:
        stage = Path(place)
        for name, data in sources(root).items():
            target = stage / "program" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        component = componentize(stage)
    found = FACTS.findall(component)
    if not found:
        sys.exit("the image does not say what is in it; see inside/lineshaft_image.py")
    facts: dict[str, Any] = json.loads(found[0])
    memory = ImageMemory(component)
    make_immortal(memory.data, *facts.pop("objects"))
    component = memory.component()
    facts |= {
        "digest": hashlib.sha256(component).hexdigest(),
        "sources": wanted,
        "memory": len(memory.data),
    }
    folder = Path(tempfile.mkdtemp(prefix=".image-", dir=root / ROOM))
    folder.chmod(0o755)
    (folder / "guest.wasm.zlib").write_bytes(zlib.compress(component, 6))
    keep_licences(folder, facts.pop("licences", {}))
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(root / ROOM / "image", ignore_errors=True)
    folder.rename(root / ROOM / "image")


def componentize(stage: Path) -> bytes:
    """Return the component made of the staged program and zone data."""
    zones = Path(str(importlib.metadata.distribution("tzdata").locate_file("tzdata")))
    shutil.copytree(zones, stage / "data" / "tzdata")
    for name in PAGES:
        copy_modules(name, stage / "data")
    target = stage / "guest.wasm"
    start = "import sys, componentize_py; sys.exit(componentize_py.script())"
    world = ["-d", str(stage / "program" / "world.wit"), "-w", "guest"]
    paths = ["-p", str(stage / "program"), "-p", str(stage / "data")]
    command = [sys.executable, "-c", start, *world, "componentize", *paths, APP, "-o", str(target)]
    none = stage / "packages"  # or it takes in those of whichever Python is found first
    (none / "lib" / "python3" / "site-packages").mkdir(parents=True)
    done = subprocess.run(  # noqa: S603  our own words and no shell
        command,
        env={**os.environ, "VIRTUAL_ENV": str(none)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not target.is_file():
        sys.exit(f"the image of Python for WebAssembly cannot be made:\n{done.stdout}{done.stderr}")
    return target.read_bytes()


def copy_modules(name: str, folder: Path) -> None:
    """Copy the modules of an installed distribution, and nothing else of it."""
    for file in importlib.metadata.files(name) or ():
        if file.suffix == ".py" and ".." not in file.parts:
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(str(file.locate())), target)


def keep_licences(folder: Path, inside: dict[str, str]) -> None:
    """Put the licences of all that the image holds beside it."""
    place = folder / "licences"
    place.mkdir()
    for name, text in inside.items():
        (place / name).write_text(text, encoding="utf-8")
    for name in LICENCES:
        for file in importlib.metadata.files(name) or ():
            parts = file.parts
            said = "licenses" in parts or "sboms" in parts or file.name.startswith("LICENSE")
            if parts[0].endswith(".dist-info") and said:
                copy = place / "-".join((name, *(part for part in parts[1:] if part != "licenses")))
                copy.write_bytes(Path(str(file.locate())).read_bytes())
