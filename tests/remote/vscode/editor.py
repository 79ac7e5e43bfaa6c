"""A real VS Code for tests: code-server, a headless browser, the packaged extension, a host."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from lineshaft.remote.host import HostAddress, addresses
from lineshaft.remote.protocol import (
    Action,
    ActionEvent,
    Observation,
    action_frame,
    read_observation,
)
from native import lend_native_code, vouch_for_native_code
from upstreams.addresses import end, free_port
from upstreams.real import node

ROOT = Path(__file__).parents[3]
CODE_SERVER = ROOT / ".venv" / "editor" / "node_modules" / "code-server" / "out/node/entry.js"
FINDER = Path(__file__).with_name("finder")
VSIX = ROOT / "extensions" / "vscode" / "dist" / "lineshaft.vsix"
SECONDS = 150

SETTINGS: Mapping[str, object] = {
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "chat.disableAIFeatures": True,
    "typescript.disableAutomaticTypeAcquisition": True,
    "files.autoSave": "off",
    "lineshaft.python": sys.executable,
    "lineshaft.startAutomatically": True,
    "lineshaft.consent": "nothing",
}


def lacking() -> str:
    """Return what the editor needs and this machine does not have; empty: it has all."""
    if shutil.which("chromium") is None:
        return "needs Chromium: apt-get install chromium fonts-dejavu-core"
    if not CODE_SERVER.is_file():
        return "needs code-server: python requirements/install.py editor installs it"
    if not VSIX.is_file():
        return "needs the packaged extension: ./dev vsix makes it"
    return ""


def needs() -> tuple[str, str]:
    """Return Node and Chromium, or skip the test with what is missing."""
    if missing := lacking():
        pytest.skip(missing)
    return node(), str(shutil.which("chromium"))


def until(look: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """Return what a look gives, once it gives something."""
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        if found := look():
            return found
        time.sleep(0.1)
    raise TimeoutError(f"not seen in {seconds:g} s")


@dataclass
class Browser:
    """The window's page."""

    process: "subprocess.Popen[str]"

    def __call__(self, act: str, text: str = "") -> Any:
        """Do something in the page."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"act": act, "text": text}) + "\n")
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        assert "error" not in said, said["error"]
        return said["value"]

    def command(self, title: str) -> None:
        """Run a command of the palette, which lists it once the extensions are known.

        The row that Enter takes is looked at: as long as the palette searches, it is another one.
        """
        label = f'[aria-label="{title}"], [aria-label^="{title}, "]'
        row = f".quick-input-list .monaco-list-row.focused:is({label})"

        def listed() -> bool:
            self("keys", "Escape")
            self("keys", "F1")
            self("wait", ".quick-input-widget:visible input")
            self("type", title)
            return bool(self("appears", row))

        until(listed)
        self("keys", "Enter")


@dataclass
class VsCode:
    """A window of an editor over one folder."""

    root: Path
    home: Path
    browser: Browser
    pages: "Pages"

    def clear(self) -> None:
        """Empty the folder, and delete what tests put beside it."""
        beside = [*self.root.parent.glob("ws-*"), *self.root.parent.glob("outside*")]
        for each in (*self.root.iterdir(), *beside):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()

    def shoot(self, folder: Path, name: str) -> None:
        """Keep a screenshot."""
        folder.mkdir(parents=True, exist_ok=True)
        self.browser("shot", str(folder / f"{name[:80].replace('/', '_')}.png"))

    def show(self, path: str) -> None:
        """Open a file in the editor, as a person does, and put the cursor at its end."""
        row = f'.quick-input-list .monaco-list-row:has-text("{path}")'

        def listed() -> bool:
            # A search that began before the file was there does not find it: once more.
            self.browser("keys", "Escape")
            self.browser("keys", "Control+p")
            self.browser("wait", ".quick-input-widget:visible input")
            self.browser("type", path)
            return bool(self.browser("appears", row))

        until(listed)
        self.browser("keys", "Enter")
        self.browser("wait", f'.tab.active:has-text("{path}")')
        self.browser("wait", ".editor-group-container.active .monaco-editor.focused")
        self.browser("keys", "Control+End")

    @property
    def address(self) -> HostAddress:
        """The address of the host that the window started."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(self.home / "state"))
            return cast("HostAddress", until(self._address))

    def _address(self) -> HostAddress | None:
        mine = (each for each in reversed(addresses()) if Path(each.root) == self.root.resolve())
        return next(mine, None)

    @contextmanager
    def another(self, root: Path) -> "Generator[VsCode]":
        """Open one more window, whose page is closed at the end of the block."""
        with self.pages.opened(root) as browser:
            yield VsCode(root, self.home, browser, self.pages)

    def http(self) -> httpx2.Client:
        """Give a client of the host."""
        known = {"Authorization": f"Bearer {self.address.token}"}
        return httpx2.Client(base_url=self.address.url, headers=known, timeout=SECONDS)

    def conversation(self) -> str:
        """Return the conversation of the window, once it is connected."""
        with self.http() as client:
            return cast("str", until(lambda: _running(client)))

    def perform(self, action: Action, *, seconds: float | None = None) -> Observation:
        """Have the window do an action."""
        with self.http() as client:
            conversation = until(lambda: _running(client))
            event = ActionEvent(id="0", action=action, timeout=seconds)
            at = f"/api/conversations/{conversation}/actions"
            answer = client.post(at, json=dict(action_frame(event)))
            assert answer.status_code == 200, answer.text
            return read_observation(answer.json()).observation


def _running(client: httpx2.Client) -> str | None:
    listed = client.get("/api/conversations").json()["results"]
    running = (each["conversation_id"] for each in listed if each["window"])
    return next(running, None)


@dataclass(frozen=True)
class Pages:
    """Windows of an editor that runs: each is a page of a browser of its own."""

    url: str
    chromium: str
    env: Mapping[str, str]

    @contextmanager
    def opened(self, root: Path) -> Generator[Browser]:
        """Open a window over a folder, and close its page at the end of the block."""
        driver = str(Path(__file__).with_name("browser.py"))
        browsing = subprocess.Popen(
            [sys.executable, driver, self.chromium],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            browser = Browser(browsing)
            browser("open", f"{self.url}/?folder={root}")
            yield browser
        finally:
            end(browsing)


@contextmanager
def vscode(
    home: Path,
    settings: Mapping[str, object] | None = None,
    *,
    vsix: Path = VSIX,
    path: str | None = None,
) -> Generator[VsCode]:
    """Run an editor as long as the block lasts.

    Args:
        home: A folder for all that it writes.
        settings: Beside `SETTINGS`.
        vsix: The packaged extension.
        path: The editor's `PATH`; None: that of the tests.
    """
    node_program, chromium = needs()
    root = home / "ws"
    root.mkdir(parents=True, exist_ok=True)
    data, extensions = home / "data", home / "extensions"
    for level in ("User", "Machine"):
        (data / level).mkdir(parents=True)
        text = json.dumps({**SETTINGS, **(settings or {})})
        (data / level / "settings.json").write_text(text)
    lend_native_code(home / "cache")
    vouch_for_native_code(home / "state")
    sockets = tempfile.mkdtemp(prefix="ls-")  # VS Code leaves some; their paths have to be short
    env = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        **({} if path is None else {"PATH": path}),
        **dict.fromkeys(("TMPDIR", "XDG_RUNTIME_DIR"), sockets),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "WINDOW_TEST_TOKEN": "secret",
    }
    server = [node_program, str(CODE_SERVER), "--user-data-dir", str(data)]
    server += ["--extensions-dir", str(extensions)]
    for each in (vsix, _packaged(FINDER, home / "finder.vsix")):
        _done([*server, "--install-extension", str(each)], env, home)
    port = free_port()
    log = (home / "server.log").open("w")
    serving = subprocess.Popen(
        [
            *server,
            *("--bind-addr", f"127.0.0.1:{port}", "--auth", "none"),
            *("--disable-telemetry", "--disable-update-check", str(root)),
        ],
        env=env,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    pages = Pages(f"http://127.0.0.1:{port}", chromium, {**env, "PATH": os.environ["PATH"]})
    try:
        until(lambda: _answers(port))
        with pages.opened(root) as browser:
            yield VsCode(root, home, browser, pages)
    finally:
        _end_group(serving)
        log.close()
        shutil.rmtree(sockets, ignore_errors=True)


def _packaged(folder: Path, vsix: Path) -> Path:
    """Package an extension of tests."""
    vsce = str(ROOT / "extensions" / "vscode" / "node_modules/@vscode/vsce/vsce")
    flags = ("--no-dependencies", "--skip-license", "--allow-missing-repository")
    _done([node(), vsce, "package", *flags, "--out", str(vsix)], dict(os.environ), folder)
    return vsix


def _done(command: list[str], env: Mapping[str, str], folder: Path) -> None:
    ended = subprocess.run(
        command, env=env, cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def _end_group(server: "subprocess.Popen[Any]") -> None:
    """End the editor with its extension host, its terminals and what the host had started."""
    os.killpg(server.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.wait(timeout=20)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False
