"""Guards from settings: levels, rules of companions, own guards and who may start them."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lineshaft.config import Settings, approve, guard_modules, guards, read_settings, unapproved
from lineshaft.errors import ConfigError
from lineshaft.values import Guard
from lineshaft.workspace import Companion, MergeMarkers, Secrets, Syntax

OWN = """
from lineshaft import Finding

async def no_todo(changes, stage):
    return [Finding(code="todo", message="a TODO is left", path=change.path) for change in changes]

GUARDS = [no_todo]
"""


@dataclass
class Home:
    """A project's file, a person's file, and the guards they lead to."""

    project: Path
    user_file: Path
    environ: dict[str, str]

    def settings(self, *, project: str = "", user: str = "") -> Settings:
        (self.project / "lineshaft.toml").write_text(project)
        self.user_file.write_text(user)
        return read_settings(self.project, environ=self.environ)

    def guards(self, *, project: str = "", user: str = "") -> tuple[Guard, ...]:
        return guards(self.settings(project=project, user=user), environ=self.environ)


@pytest.fixture
def home(project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(project, user_file, environ)


def test_without_settings_the_built_in_guards_are_errors(home: Home) -> None:
    assert home.guards() == (Syntax(), MergeMarkers(), Secrets())


def test_the_person_may_lower_a_guard_and_a_project_may_not(home: Home) -> None:
    lower = '[guards]\nsyntax = "warning"\nsecrets = "off"'
    assert home.guards(user=lower) == (Syntax("warning"), MergeMarkers(), Secrets("off"))
    assert home.guards(project=lower) == (Syntax(), MergeMarkers(), Secrets())


def test_a_project_may_raise_what_the_person_lowered(home: Home) -> None:
    found = home.guards(
        user='[guards]\nsyntax = "off"\nsecrets = "warning"',
        project='[guards]\nsyntax = "warning"\nsecrets = "off"',
    )
    assert found == (Syntax("warning"), MergeMarkers(), Secrets("warning"))


def test_a_variable_is_the_persons_word_for_this_time(home: Home) -> None:
    home.environ["LINESHAFT_GUARDS_SYNTAX"] = "off"
    assert home.guards(project='[guards]\nsyntax = "error"')[0] == Syntax("off")


def test_companions_of_both_files_hold(home: Home) -> None:
    project = '[[guards.companion]]\nchanged = "src/**/*.py"\nneeds = ["tests/**", "docs/**"]'
    user = '[[guards.companion]]\nchanged = "*.ts"\nneeds = "*.test.ts"\nlevel = "warning"'
    assert home.guards(project=project, user=user)[3:] == (
        Companion(changed="src/**/*.py", needs=("tests/**", "docs/**")),
        Companion(changed="*.ts", needs="*.test.ts", level="warning"),
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('changed = "src/**"', "needs is None"),
        ('changed = "src/**"\nneeds = 3', "needs is 3"),
        ('changed = ""\nneeds = "x"', "changed is empty"),
        ('changed = "x"\nneeds = "x"\nlevel = "loud"', "'loud'"),
        ('changed = "x"\nneeds = "x"\nwhen = "y"', "unknown key 'when'"),
    ],
)
def test_a_bad_rule_is_refused_with_its_file_and_line(home: Home, line: str, said: str) -> None:
    text = f"# a comment\n\n[[guards.companion]]\n{line}"
    with pytest.raises(ConfigError) as caught:
        home.guards(project=text)
    assert f"{home.project / 'lineshaft.toml'}:3: guards.companion" in caught.value.message
    assert said in caught.value.message


def test_own_guards_come_from_a_file_of_the_person(home: Home) -> None:
    (home.user_file.parent / "mine.py").write_text(OWN)
    (*_, own) = home.guards(user='[guards]\nmodules = ["./mine.py"]')
    assert getattr(own, "__name__", "") == "no_todo"


def test_a_file_that_a_project_names_must_be_approved_first(home: Home) -> None:
    (home.project / "mine.py").write_text(OWN + "raise SystemExit('it ran')\n")
    settings = home.settings(project='[guards]\nmodules = ["./mine.py"]')
    with pytest.raises(ConfigError, match="is not approved yet"):
        guards(settings, environ=home.environ)
    (home.project / "mine.py").write_text(OWN)
    (waiting,) = unapproved(guard_modules(settings), environ=home.environ)
    approve(waiting, environ=home.environ)
    assert len(guards(settings, environ=home.environ)) == 4


@pytest.mark.parametrize("source", ["", "GUARDS = []", "GUARDS = ['syntax']"])
def test_a_file_without_guards_is_refused(home: Home, source: str) -> None:
    (home.user_file.parent / "mine.py").write_text(source)
    with pytest.raises(ConfigError, match=r"mine\.py' has no guards in 'GUARDS'"):
        home.guards(user='[guards]\nmodules = ["./mine.py"]')


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on the path with an installed package that offers guards."""
    folder = tmp_path / "installed"
    (folder / "house_guards-1.0.dist-info").mkdir(parents=True)
    (folder / "house_guards-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: house-guards\nVersion: 1.0\n"
    )
    (folder / "house_guards-1.0.dist-info" / "entry_points.txt").write_text(
        "[lineshaft.guards]\nhouse = house_guards:Rules.no_todo\nbroken = house_broken:x\n"
    )
    (folder / "house_guards.py").write_text(f"{OWN}\nclass Rules:\n    no_todo = GUARDS[0]\n")
    (folder / "house_broken.py").write_text("raise SystemExit('it ran')")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


@pytest.mark.usefixtures("installed")
def test_an_installed_guard_starts_only_where_it_is_named(home: Home) -> None:
    assert len(home.guards()) == 3
    (*_, own) = home.guards(user='[guards]\nplugins = ["house"]')
    assert getattr(own, "__name__", "") == "no_todo"


@pytest.mark.usefixtures("installed")
def test_an_installed_guard_that_a_project_names_must_be_approved(home: Home) -> None:
    settings = home.settings(project='[guards]\nplugins = ["house"]')
    with pytest.raises(ConfigError, match="is not approved yet"):
        guards(settings, environ=home.environ)
    for waiting in unapproved(guard_modules(settings), environ=home.environ):
        approve(waiting, environ=home.environ)
    assert len(guards(settings, environ=home.environ)) == 4


@pytest.mark.usefixtures("installed")
def test_an_unknown_installed_guard_is_refused_with_those_there_are(home: Home) -> None:
    with pytest.raises(ConfigError, match="'hose': no installed package") as caught:
        home.guards(user='[guards]\nplugins = ["hose"]')
    assert "house" in caught.value.hint


@pytest.mark.usefixtures("installed")
def test_an_installed_guard_that_does_not_start_is_an_error(home: Home) -> None:
    with pytest.raises(ConfigError, match="does not start: SystemExit: it ran"):
        home.guards(user='[guards]\nplugins = ["broken"]')


def test_only_a_person_says_that_changes_need_not_land_whole(home: Home) -> None:
    assert home.settings().atomic
    assert not home.settings(user="[workspace]\natomic = false").atomic
    with pytest.raises(ConfigError, match="not for a project's file"):
        _ = home.settings(project="[workspace]\natomic = false").atomic
