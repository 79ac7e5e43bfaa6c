"""What files, variables and flags may say, and which of them wins."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineshaft.config import KEYS, Settings, read_settings
from lineshaft.config._files import is_strangers
from lineshaft.errors import ConfigError
from lineshaft.values import ENGINES, PythonOptions


@dataclass
class Home:
    """A project, and the folders and variables of whoever works in it."""

    project: Path
    user_file: Path
    environ: dict[str, str]

    def write(self, text: str) -> None:
        (self.project / "lineshaft.toml").write_text(text, encoding="utf-8")

    def read(self, **flags: object) -> Settings:
        named = {name.replace("__", "."): value for name, value in flags.items()}
        return read_settings(self.project, flags=named, environ=self.environ)


@pytest.fixture
def home(project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(project, user_file, environ)


def refusal(home: Home) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        home.read()
    return caught.value


def test_without_files_every_setting_has_its_built_in_value(home: Home) -> None:
    settings = home.read()
    assert {name: settings.setting(name).value for name in KEYS} == {
        name: key.default for name, key in KEYS.items()
    }
    assert {settings.setting(name).source for name in KEYS} == {"default"}
    assert settings.root == home.project
    assert settings.limits().seconds == 60
    assert settings.limits().calls == 1_000


def test_later_givers_win_and_each_value_knows_its_giver(home: Home) -> None:
    home.write(
        "[script]\ntimeout_seconds = 10\n[limits]\ncalls = 1\nmemory_mb = 64\nrecursion = 50"
    )
    home.user_file.write_text("[script]\ntimeout_seconds = 20\n[limits]\ncalls = 2\nmemory_mb = 65")
    home.environ["LINESHAFT_SCRIPT_TIMEOUT_SECONDS"] = "30"
    home.environ["LINESHAFT_LIMITS_CALLS"] = "3"
    settings = home.read(script__timeout_seconds="40")
    held = {
        name: (settings.setting(name).value, settings.setting(name).source)
        for name in ("script.timeout_seconds", "limits.calls", "limits.memory_mb")
    }
    assert held == {
        "script.timeout_seconds": (40, "--timeout_seconds"),
        "limits.calls": (3, "LINESHAFT_LIMITS_CALLS"),
        "limits.memory_mb": (65, str(home.user_file)),
    }
    assert settings.setting("limits.recursion").source == str(home.project / "lineshaft.toml")


def test_the_projects_file_is_found_from_a_folder_below_it(home: Home) -> None:
    home.write("[limits]\ncalls = 7")
    below = home.project / "a" / "b"
    below.mkdir(parents=True)
    settings = read_settings(below, environ=home.environ)
    assert settings.setting("limits.calls").value == 7
    assert settings.root == home.project


def test_a_pyproject_with_our_table_counts_and_one_without_does_not(home: Home) -> None:
    (home.project / "pyproject.toml").write_text("[tool.lineshaft.limits]\ncalls = 5")
    inner = home.project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "uses-lineshaft"')
    settings = read_settings(inner, environ=home.environ)
    assert settings.setting("limits.calls").value == 5
    assert settings.project == home.project / "pyproject.toml"


def test_two_files_of_one_project_are_refused(home: Home) -> None:
    home.write("")
    (home.project / "pyproject.toml").write_text("[tool.lineshaft]\n")
    assert "both" in refusal(home).message


def test_a_settings_file_can_be_named_itself(home: Home) -> None:
    other = home.project / "other.toml"
    other.write_text("[limits]\ncalls = 9")
    settings = read_settings(other, environ=home.environ)
    assert settings.setting("limits.calls").value == 9
    assert settings.root == home.project


def test_a_pyproject_can_be_named_itself_if_it_speaks_of_us(home: Home) -> None:
    named = home.project / "pyproject.toml"
    named.write_text("[tool.lineshaft.limits]\ncalls = 4")
    assert read_settings(named, environ=home.environ).setting("limits.calls").value == 4
    for text in ("[tool.other]\nx = 1", "tool = 'lineshaft'", "[tool.other]\nx = 'lineshaft'"):
        named.write_text(text)
        with pytest.raises(ConfigError, match="has no table"):
            read_settings(named, environ=home.environ)
    named.write_text("[tool]\nlineshaft = 1")
    with pytest.raises(ConfigError, match="must be a table"):
        read_settings(named, environ=home.environ)


def test_only_files_of_this_user_and_of_root_count_above_the_start() -> None:
    assert is_strangers(owner=1001, me=1000)
    assert not is_strangers(owner=1000, me=1000)
    assert not is_strangers(owner=0, me=1000)
    assert not is_strangers(owner=1000, me=0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[limts]\ncalls = 1", ["unknown key 'limts'"]),
        ("[limits]\ncals = 1", ["unknown key 'limits.cals'"]),
        ("[limits]\ncalls = 'many'", ["limits.calls", "'many'", "whole number from 1"]),
        ("[limits]\ncalls = true", ["limits.calls", "True"]),
        ("[limits]\ncalls = 0", ["limits.calls"]),
        (f"[limits]\ncalls = {10**400}", ["limits.calls", "whole number from 1"]),
        ("[script]\ntimeout_seconds = 4.9", ["script.timeout_seconds", "from 5 to 600"]),
        ("[script]\ntimeout_seconds = 601", ["script.timeout_seconds", "from 5 to 600"]),
        ("[script]\ntimeout_seconds = nan", ["script.timeout_seconds"]),
        ("[script]\nenabled = 'no'", ["script.enabled", "true or false"]),
        ("[script]\ncheck = 'loud'", ["script.check", "'error', 'warn', 'off'"]),
        ("[engine]\nname = 'v8'", ["engine.name", "'wasm'"]),
        ("[policy]\nmode = 'yolo'", ["policy.mode", "'auto'"]),
        ("[tools]\nmodules = './tools.py'", ["tools.modules", "a list"]),
        ("[tools]\nkit = [1]", ["tools.kit"]),
        ("[workspace]\nroot = ''", ["workspace.root"]),
        ("[workspace.aliases]\npkg = {path = 'x', writeable = true}", ["workspace.aliases"]),
        ("[workspace.aliases]\npkg = 1", ["workspace.aliases", "writable = true"]),
        ("[workspace.aliases]\nproject = 'x'", ["workspace.aliases", "other than project"]),
        ("[workspace.aliases]\n'@state' = 'x'", ["workspace.aliases", "other than project"]),
        ("policy = 'read'", ["'policy' must be a table"]),
        ("[limits]\ncalls = 1\ncalls = 2", ["not TOML", "line 3"]),
        ("[limits]\ncalls = " + "1" * 5_000, ["not TOML", "limit"]),
        ("x = " + "[" * 5_000, ["not TOML", "nested too deeply"]),
        ("a = " + "[" * 5_000, ["lineshaft.toml"]),
    ],
)
def test_what_is_not_allowed_is_refused_with_file_key_and_what_is(
    home: Home, text: str, words: list[str]
) -> None:
    home.write(text)
    message = refusal(home).message
    assert str(home.project / "lineshaft.toml") in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("[limts]\ncalls = 1", "limits"),
        ("[limits]\nmemory = 1", "limits.memory_mb"),
        ("[limits]\nseconds = 30", "script.timeout_seconds"),
        ("[script]\ntimeout = 30", "script.timeout_seconds"),
    ],
)
def test_a_misspelt_key_is_answered_with_the_right_one(home: Home, text: str, near: str) -> None:
    home.write(text)
    assert refusal(home).hint == f"did you mean {near!r}?"


def test_a_key_that_is_like_no_other_is_answered_with_all_of_its_table(home: Home) -> None:
    home.write("[limits]\nfoo = 1")
    hint = refusal(home).hint
    assert hint.startswith("known: ")
    assert "limits.calls" in hint


def test_bytes_that_are_not_text_are_refused_with_their_line(home: Home) -> None:
    (home.project / "lineshaft.toml").write_bytes(b"[limits]\ncalls = 1\n# \xff\n")
    assert "line 3" in refusal(home).message


def test_a_huge_settings_file_is_refused_unread(home: Home) -> None:
    home.write("#" * 1_000_001)
    assert "larger than" in refusal(home).message


@pytest.mark.skipif(os.name == "nt", reason="named pipes are of POSIX")
def test_a_pipe_in_place_of_a_settings_file_does_not_stall(home: Home) -> None:
    os.mkfifo(home.project / "lineshaft.toml")
    assert "not a regular file" in refusal(home).message


def test_a_symlink_that_leads_nowhere_is_refused_and_not_passed_over(home: Home) -> None:
    (home.project / "lineshaft.toml").symlink_to("gone.toml")
    assert "cannot be read" in refusal(home).message


def test_an_unknown_variable_is_refused_with_the_right_one(home: Home) -> None:
    home.environ["LINESHAFT_POLICY_MODEE"] = "read"
    error = refusal(home)
    assert "LINESHAFT_POLICY_MODEE" in error.message
    assert "LINESHAFT_POLICY_MODE" in error.hint
    del home.environ["LINESHAFT_POLICY_MODEE"]
    home.environ["LINESHAFT_policy_mode"] = "read"
    assert refusal(home).hint == "did you mean 'LINESHAFT_POLICY_MODE'?"


def test_a_variable_with_a_bad_value_is_named(home: Home) -> None:
    home.environ["LINESHAFT_TOOLS_MODULES"] = "./tools.py"
    assert "tools.modules cannot be given by a variable" in refusal(home).message
    del home.environ["LINESHAFT_TOOLS_MODULES"]
    home.environ["LINESHAFT_LIMITS_CALLS"] = "lots"
    assert "LINESHAFT_LIMITS_CALLS" in refusal(home).message


@pytest.mark.parametrize(
    ("value", "enabled"), [("1", False), ("yes", False), ("0", True), ("", True)]
)
def test_one_variable_switches_scripts_off(home: Home, value: str, *, enabled: bool) -> None:
    home.environ["LINESHAFT_NO_SCRIPT"] = value
    assert home.read().script_enabled is enabled


def test_one_setting_switches_scripts_off(home: Home) -> None:
    home.write("[script]\nenabled = false")
    assert home.read().script_enabled is False


def test_a_run_may_ask_for_any_time_up_to_the_most(home: Home) -> None:
    settings = home.read()
    assert settings.limits(seconds=0.5).seconds == 0.5
    assert settings.limits(seconds=600).seconds == 600
    for seconds in (0, -1, 601, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="time-out"):
            settings.limits(seconds=seconds)


@pytest.mark.parametrize("folder", ["..", "/etc", "~", "link"])
def test_a_projects_file_cannot_open_folders_outside_the_project(home: Home, folder: str) -> None:
    (home.project / "link").symlink_to("/etc")
    home.write(f'[workspace]\nroot = "{folder}"')
    with pytest.raises(ConfigError, match="leads out of the project"):
        _ = home.read().root
    home.write(f'[workspace.aliases]\nother = "{folder}"')
    with pytest.raises(ConfigError, match=r"workspace\.aliases\.other leads out"):
        _ = home.read().aliases


@pytest.mark.parametrize("table", ['root = "{}"', 'aliases.g = {{path = "{}", writable = true}}'])
@pytest.mark.parametrize(
    ("folder", "rule"),
    [
        (".git", "builtin:git"),
        ("sub/.GIT/hooks", "builtin:git"),
        ("link", "builtin:git"),
        (".ssh", "builtin:secrets"),
        (".vscode", "builtin:tool-config"),
    ],
)
def test_a_projects_file_cannot_place_the_workspace_in_what_is_closed(
    home: Home, table: str, folder: str, rule: str
) -> None:
    (home.project / ".git").mkdir()
    (home.project / "link").symlink_to(".git")
    home.write("[workspace]\n" + table.format(folder))
    with pytest.raises(ConfigError, match=rf"lineshaft\.toml: workspace\..* {rule}") as caught:
        _ = home.read().root, home.read().aliases
    assert "--workspace" in caught.value.hint


def test_a_projects_alias_may_show_what_only_changes_are_asked_about(home: Home) -> None:
    home.write('[workspace.aliases]\neditor = ".vscode"')
    assert home.read().aliases["editor"].inside == ".vscode"


def test_a_person_can_place_the_workspace_anywhere(home: Home) -> None:
    assert home.read(workspace__root=str(home.project / ".git")).root == home.project / ".git"


def test_mounts_are_moved_by_a_projects_file_alone(home: Home) -> None:
    aliases = 'a = "a"\n"@b" = "b"\nc = "c"'
    home.write(f'[workspace]\nroot = "sub"\n[workspace.aliases]\n{aliases}\nall = "."')
    home.user_file.write_text('[workspace.aliases]\na = "/a"')
    assert home.read().moved == {".": "sub", "@b": "b", "@c": "c", "@all": "."}
    assert "." not in home.read(workspace__root=str(home.project / "sub")).moved
    home.write('[workspace]\nroot = "."')
    assert home.read().moved == {}


def test_a_persons_own_file_can_open_any_folder(home: Home) -> None:
    home.user_file.write_text('[workspace.aliases]\nother = {path = "/etc", writable = true}')
    alias = home.read().aliases["other"]
    assert (alias.path, alias.writable) == (Path("/etc"), True)


def test_aliases_and_modules_of_all_files_add_up(home: Home) -> None:
    home.write('[workspace.aliases]\na = "a"\nb = "b"\n[tools]\nmodules = ["./one.py"]')
    home.user_file.write_text('[workspace.aliases]\nb = "/b"\n[tools]\nmodules = ["./two.py"]')
    settings = home.read(tools__modules=["three.py"])
    assert {name: str(alias.path) for name, alias in settings.aliases.items()} == {
        "a": str(home.project / "a"),
        "b": "/b",
    }
    assert [(m.name, m.project is not None) for m in settings.modules] == [
        ("./one.py", True),
        ("./two.py", False),
        ("three.py", False),
    ]


def test_an_unknown_persons_home_is_refused(home: Home) -> None:
    home.user_file.write_text('[workspace]\nroot = "~no-such-person/x"')
    with pytest.raises(ConfigError, match="home folder"):
        _ = home.read().root


def test_what_only_files_can_say_cannot_be_given_as_text(home: Home) -> None:
    with pytest.raises(ConfigError, match="only in a file"):
        home.read(policy__rules="[]")
    with pytest.raises(ConfigError, match=r"unknown key 'limits\.all'"):
        home.read(limits__all="1")


def test_a_missing_folder_is_refused(home: Home) -> None:
    with pytest.raises(ConfigError, match="no folder"):
        read_settings(home.project / "gone", environ=home.environ)


def test_without_home_or_xdg_folders_the_error_says_what_to_set(home: Home) -> None:
    with pytest.raises(ConfigError, match="XDG_CONFIG_HOME"):
        read_settings(home.project, environ={})


def test_full_python_is_a_persons_choice_and_a_project_adds_what_it_needs(home: Home) -> None:
    home.write('[python]\npackages = ["pandas>=2"]\npreload = ["json"]\ntimeout_seconds = 90')
    own = 'path = "../python"\nboundary = "bubblewrap"\nworkspace_imports = true'
    home.user_file.write_text(f"[python]\n{own}")
    options = home.read().python
    assert options == PythonOptions(
        path=str(home.user_file.parent / "../python"),
        packages=("pandas>=2",),
        preload=("json",),
        workspace_imports=True,
        seconds=90,
        boundary="bubblewrap",
    )
    assert home.read(python__timeout_seconds="5").python.seconds == 5


@pytest.mark.parametrize(
    "line", ['path = "./python"', 'boundary = "none"', "workspace_imports = true"]
)
def test_a_project_cannot_choose_the_interpreter_or_the_boundary(home: Home, line: str) -> None:
    home.write(f"[python]\n{line}")
    with pytest.raises(ConfigError, match=f"python.{line.split()[0]} is not for a project"):
        _ = home.read().python


@pytest.mark.parametrize(
    "requirement", ["--pre", "a>=1 --pre", "-r x", "a @ https://x/y.whl", "./a.whl", "a b", ""]
)
def test_packages_are_names_and_versions_only(home: Home, requirement: str) -> None:
    home.write(f'[python]\npackages = ["{requirement}"]')
    assert "python.packages" in refusal(home).message


@pytest.mark.parametrize(
    "requirement",
    ["a", "a-b.c_d", "a>=1,<2.0", "a[x,y]==1.0", "a ~= 1.4", "a==1.*", "a; os_name == 'posix'"],
)
def test_packages_may_have_extras_and_versions(home: Home, requirement: str) -> None:
    home.write(f'[python]\npackages = ["{requirement}"]')
    assert home.read().python.packages == (requirement,)


@pytest.mark.parametrize("name", ["monty", "micropython"])
def test_an_engine_that_is_gone_is_refused_and_the_one_to_name_is_told(
    home: Home, name: str
) -> None:
    home.write(f"[engine]\nname = '{name}'")
    with pytest.raises(ConfigError) as raised:
        home.read()
    assert "lineshaft.toml" in raised.value.message
    assert repr(name) in raised.value.message
    assert "'wasm'" in raised.value.message


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_can_be_named(home: Home, name: str) -> None:
    home.write(f"[engine]\nname = '{name}'")
    assert home.read().engine == name
