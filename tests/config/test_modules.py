"""Own tools from files and modules, and who may start them."""

import importlib.util
import py_compile
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineshaft.config import (
    Approval,
    Settings,
    approve,
    read_settings,
    tools,
    unapproved,
)
from lineshaft.errors import ConfigError

DOUBLE = '''
from lineshaft import tool

@tool(effect="read")
def double(number: int) -> int:
    """Return twice the number."""
    return 2 * number
'''


@dataclass
class Home:
    """A project, and the folders and variables of whoever works in it."""

    root: Path
    project: Path
    user_file: Path
    environ: dict[str, str]

    def name_module(self, source: str = DOUBLE, name: str = "tools.py") -> Settings:
        (self.project / name).write_text(source, encoding="utf-8")
        (self.project / "lineshaft.toml").write_text(f'[tools]\nkit = []\nmodules = ["./{name}"]')
        return self.read()

    def read(self, **flags: object) -> Settings:
        named = {name.replace("__", "."): value for name, value in flags.items()}
        return read_settings(self.project, flags=named, environ=self.environ)

    def trust(self, settings: Settings) -> None:
        for module in unapproved(settings.modules, environ=self.environ):
            approve(module, environ=self.environ)


@pytest.fixture
def home(tmp_path: Path, project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(tmp_path, project, user_file, environ)


def names(home: Home, settings: Settings) -> list[str]:
    return list(tools(settings, environ=home.environ))


def test_a_projects_module_does_not_start_before_a_person_approved_it(home: Home) -> None:
    marker = home.root / "started"
    settings = home.name_module(f"open({str(marker)!r}, 'w').close()\n{DOUBLE}")
    with pytest.raises(ConfigError, match="is not approved") as caught:
        tools(settings, environ=home.environ)
    assert "lineshaft config trust" in caught.value.hint
    assert not marker.exists()
    home.trust(settings)
    assert names(home, settings) == ["double"]
    assert marker.exists()


def test_a_changed_module_needs_approval_again(home: Home) -> None:
    settings = home.name_module()
    home.trust(settings)
    assert names(home, settings) == ["double"]
    changed = home.name_module(DOUBLE + "\n# changed")
    with pytest.raises(ConfigError, match="is not approved"):
        tools(changed, environ=home.environ)


def test_the_same_module_of_another_project_needs_its_own_approval(home: Home) -> None:
    home.trust(home.name_module())
    other = home.root / "other"
    other.mkdir()
    for name in ("lineshaft.toml", "tools.py"):
        (other / name).write_bytes((home.project / name).read_bytes())
    settings = read_settings(other, environ=home.environ)
    with pytest.raises(ConfigError, match="is not approved"):
        tools(settings, environ=home.environ)


def test_a_person_is_asked_once(home: Home) -> None:
    settings = home.name_module()
    asked: list[Approval] = []

    def confirm(module: Approval) -> bool:
        asked.append(module)
        return True

    for _ in range(2):
        assert list(tools(settings, confirm=confirm, environ=home.environ)) == ["double"]
    assert [module.files for module in asked] == [(home.project / "tools.py",)]


def test_a_no_is_a_no(home: Home) -> None:
    settings = home.name_module()
    with pytest.raises(ConfigError, match="is not approved"):
        tools(settings, confirm=lambda _: False, environ=home.environ)
    assert len(unapproved(settings.modules, environ=home.environ)) == 1


def test_approvals_are_readable_by_their_owner_alone(home: Home) -> None:
    home.trust(home.name_module())
    file = home.root / "state" / "lineshaft" / "trusted.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_approvals_that_are_garbage_are_refused(home: Home) -> None:
    settings = home.name_module()
    home.trust(settings)
    (home.root / "state" / "lineshaft" / "trusted.json").write_text("[")
    with pytest.raises(ConfigError, match=r"trusted\.json"):
        tools(settings, environ=home.environ)


def test_cached_bytecode_beside_an_approved_module_is_not_executed(home: Home) -> None:
    settings = home.name_module()
    home.trust(settings)
    evil = home.root / "evil.py"
    marker = home.root / "started"
    evil.write_text(f"open({str(marker)!r}, 'w').close()")
    cached = Path(importlib.util.cache_from_source(str(home.project / "tools.py")))
    cached.parent.mkdir()
    py_compile.compile(
        str(evil),
        cfile=str(cached),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    assert names(home, settings) == ["double"]
    assert not marker.exists()


def test_modules_given_by_hand_and_by_the_persons_file_need_no_approval(home: Home) -> None:
    (home.project / "tools.py").write_text(DOUBLE)
    home.user_file.write_text("[tools]\nkit = []")
    by_hand = home.read(tools__modules=[str(home.project / "tools.py")])
    assert names(home, by_hand) == ["double"]
    (home.user_file.parent / "mine.py").write_text(DOUBLE)
    home.user_file.write_text('[tools]\nkit = []\nmodules = ["./mine.py"]')
    assert names(home, home.read()) == ["double"]


def test_toolsets_and_lists_of_names_decide_what_a_module_offers(home: Home) -> None:
    settings = home.name_module(
        DOUBLE + "\nfrom lineshaft import Toolset\n"
        'maths = Toolset([double]).prefix("maths")\n__all__ = ["maths"]\n'
    )
    home.trust(settings)
    assert names(home, settings) == ["maths.double"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1", "has no tools"),
        ("1 / 0", r"ZeroDivisionError: division by zero \(line 1\)"),
        ("\n\ndef f(:", r"SyntaxError.*line 3"),
        ("raise SystemExit(0)", "SystemExit"),
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("\0", "does not start"),
    ],
)
def test_a_module_that_does_not_start_is_a_configuration_error(
    home: Home, source: str, words: str
) -> None:
    settings = home.name_module(source)
    home.trust(settings)
    with pytest.raises(ConfigError, match=words) as caught:
        tools(settings, environ=home.environ)
    assert "lineshaft.toml" in caught.value.message


@pytest.mark.parametrize("name", ["./gone.py", "no_such_package.tools", "os.path.no", "a b"])
def test_a_missing_module_is_named(home: Home, name: str) -> None:
    settings = home.read(tools__modules=[name])
    with pytest.raises(ConfigError, match=r"tools\.modules") as caught:
        tools(settings, environ=home.environ)
    assert repr(name) in caught.value.message


def test_an_installed_module_is_hashed_without_being_imported(home: Home) -> None:
    (home.project / "lineshaft.toml").write_text('[tools]\nmodules = ["xml.dom.minidom"]')
    (module,) = unapproved(home.read().modules, environ=home.environ)
    assert [file.name for file in module.files] == ["__init__.py", "__init__.py", "minidom.py"]


def test_an_installed_module_is_imported_by_its_name(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.root / "installed").mkdir()
    (home.root / "installed" / "shop_tools.py").write_text(DOUBLE)
    monkeypatch.setattr(sys, "path", [str(home.root / "installed"), *sys.path])
    home.user_file.write_text('[tools]\nkit = []\nmodules = ["shop_tools"]')
    assert names(home, home.read()) == ["double"]
    home.user_file.write_text("")
    (home.project / "lineshaft.toml").write_text('[tools]\nkit = []\nmodules = ["shop_tools"]')
    with pytest.raises(ConfigError, match="is not approved"):
        tools(home.read(), environ=home.environ)
    home.trust(home.read())
    assert names(home, home.read()) == ["double"]


def test_a_state_folder_that_cannot_be_made_is_named(home: Home) -> None:
    settings = home.name_module()
    (module,) = unapproved(settings.modules, environ=home.environ)
    (home.root / "state").write_text("in the way")
    with pytest.raises(ConfigError, match="state"):
        approve(module, environ=home.environ)


def test_tools_with_one_name_from_two_modules_are_refused(home: Home) -> None:
    for name in ("a.py", "b.py"):
        (home.project / name).write_text(DOUBLE)
    settings = home.read(tools__modules=[str(home.project / n) for n in ("a.py", "b.py")])
    with pytest.raises(ConfigError, match="double"):
        tools(settings, environ=home.environ)


def test_the_kit_can_be_cut_down_and_left_out(home: Home) -> None:
    home.user_file.write_text('[tools]\nkit = ["read_file", "search_text"]')
    assert sorted(names(home, home.read())) == ["read_file", "search_text"]
    home.user_file.write_text("[tools]\nkit = false")
    assert names(home, home.read()) == []
    home.user_file.write_text('[tools]\nkit = ["read_flie"]')
    with pytest.raises(ConfigError, match=r"tools\.kit"):
        tools(home.read(), environ=home.environ)
