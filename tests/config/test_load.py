"""`lineshaft.load` gives the session that the files describe."""

from pathlib import Path

import pytest

import lineshaft
from lineshaft.errors import ConfigError
from native import CACHE_HOME, vouch_for_native_code


@pytest.fixture
def home(project: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project, in the process's own variables; native code is there already."""
    vouch_for_native_code(Path(environ["XDG_STATE_HOME"]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE_HOME))
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return project


async def test_the_session_has_the_tools_policy_and_folder_of_the_files(home: Path) -> None:
    (home / "a.txt").write_text("hello")
    (home / "lineshaft.toml").write_text('[policy]\nmode = "read"\n[limits]\ncalls = 3')
    async with lineshaft.load(home) as session:
        assert "read_file" in session.tools
        assert session.limits.calls == 3
        done = await session.run("return (await read_file(path='a.txt'))['content']")
        refused = await session.run("await write_file(path='b.txt', content='x')")
    assert done.value == "hello"
    assert refused.error is not None
    assert refused.error.code == "E_DENIED"


def test_an_alias_without_its_folder_names_the_file_and_the_key(home: Path) -> None:
    file = home / "lineshaft.toml"
    file.write_text('[workspace.aliases]\nv = "vendor"')
    with pytest.raises(ConfigError, match="is not a folder") as caught:
        lineshaft.load(home)
    assert caught.value.message.startswith(f"{file}: workspace.aliases.v: ")


async def test_aliases_are_mounted_read_only_unless_said_otherwise(home: Path) -> None:
    for name in ("vendor", "out"):
        (home / name).mkdir()
    (home / "lineshaft.toml").write_text(
        '[workspace.aliases]\nv = "vendor"\no = {path = "out", writable = true}'
    )
    async with lineshaft.load(home) as session:
        write = {"path": "@v/x", "content": "x"}
        refused = await session.call("write_file", write)
        done = await session.call("write_file", write | {"path": "@o/x"})
    assert refused.error is not None
    assert refused.error.code == "E_SANDBOX_VIOLATION"
    assert done.error is None
    assert (home / "out" / "x").read_text() == "x"


async def test_scripts_that_are_switched_off_are_neither_listed_nor_run(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINESHAFT_NO_SCRIPT", "1")
    async with lineshaft.load(home) as session:
        assert session.definitions("openai") == []
        assert (await session.run("1")).status == "refused"
        assert (await session.handle("run_script", {"code": "1"})).is_error


async def test_silent_files_leave_a_model_its_smaller_limits(home: Path) -> None:
    script = "for _ in range(60):\n    await list_files()"
    async with lineshaft.load(home) as session:
        by_hand = await session.run(script)
        handled = await session.handle("run_script", {"code": script})
    assert by_hand.status == "success"
    assert "50" in handled.text
    assert handled.is_error


def test_a_module_nobody_approved_is_refused_without_asking(home: Path) -> None:
    (home / "tools.py").write_text("")
    (home / "lineshaft.toml").write_text('[tools]\nmodules = ["./tools.py"]')
    with pytest.raises(ConfigError, match="is not approved"):
        lineshaft.load(home)


@pytest.mark.parametrize("folder", ["gone", "file"])
def test_a_folder_that_is_none_is_refused(home: Path, folder: str) -> None:
    (home / "file").write_text("")
    with pytest.raises(ConfigError):
        lineshaft.load(home / folder / "below")
    (home / "lineshaft.toml").write_text(f'[workspace]\nroot = "{folder}"')
    with pytest.raises(ConfigError, match=r"lineshaft\.toml.*not a folder"):
        lineshaft.load(home)
