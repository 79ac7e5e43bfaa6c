"""What of a workspace is closed to a program."""

from pathlib import Path

from lineshaft.kit.jailed.closed_paths import closed
from lineshaft.values import Reach


def look(path: str) -> Reach:
    name = path.rpartition("/")[2]
    return "hidden" if name == "secret" else "readonly" if name == "settings" else "open"


def test_what_is_closed_is_found_at_any_depth_and_hidden_folders_are_not_entered(
    tmp_path: Path,
) -> None:
    for folder in ("a/b", "a/secret/inner"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("a/b/secret", "a/secret/secret", "settings", "a/b/open"):
        (tmp_path / file).write_text("x")

    found = closed(tmp_path, look)

    assert set(found.hidden) == {tmp_path / "a/b/secret", tmp_path / "a/secret"}
    assert found.readonly == [tmp_path / "settings"]


def test_other_names_of_a_hidden_file_are_hidden_too(tmp_path: Path) -> None:
    (tmp_path / "d" / "secret").mkdir(parents=True)
    (tmp_path / "d" / "secret" / "inner").write_text("x")
    (tmp_path / "secret").write_text("x")
    (tmp_path / "plain").hardlink_to(tmp_path / "secret")
    (tmp_path / "plain2").hardlink_to(tmp_path / "d" / "secret" / "inner")
    (tmp_path / "one").write_text("x")
    (tmp_path / "two").hardlink_to(tmp_path / "one")

    found = closed(tmp_path, look)

    names = {path.relative_to(tmp_path).as_posix() for path in found.hidden}
    assert names == {"secret", "d/secret", "plain", "plain2"}


def test_a_symlink_does_not_close_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "public").write_text("x")
    (tmp_path / "secret").symlink_to("public")

    assert closed(tmp_path, look).hidden == []


def test_paths_have_the_names_that_policy_knows(tmp_path: Path) -> None:
    (tmp_path / "@pkg").mkdir()
    (tmp_path / "@pkg" / "a").write_text("x")
    seen: list[str] = []

    def note(path: str) -> Reach:
        seen.append(path)
        return "open"

    closed(tmp_path, note)

    assert sorted(seen) == ["./@pkg", "./@pkg/a"]
