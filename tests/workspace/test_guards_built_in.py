"""The guards that every session has: what they find, what they leave alone, how they are set."""

from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ConfigError, Guarded
from lineshaft.sandbox.webassembly import Asker
from lineshaft.values import Change, Finding
from lineshaft.workspace import (
    Companion,
    Folder,
    MergeMarkers,
    Secrets,
    Syntax,
    guarded,
    with_built_in,
)
from workspace.held import Held

CONFLICT = b"one\n<<<<<<< ours\ntwo\n=======\nthree\n>>>>>>> theirs\n"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2"
KEY = "-----BEGIN " + "RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAx4f0Zb3Q9mXo1uHh7ykP2Lw8\n"


async def look(
    guard: Syntax | MergeMarkers | Secrets | Companion,
    after: dict[str, bytes],
    before: dict[str, bytes] | None = None,
) -> list[Finding]:
    held = Held(after, before)
    try:
        return list(await guarded([guard], await held.changes(), held))
    except Guarded as error:
        return [finding for finding in error.findings if isinstance(finding, Finding)]


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_symlink_is_not_blamed_for_what_it_leads_to(
    folder: Folder, root: Path, atomic: bool
) -> None:
    (root / "old.py").write_bytes(CONFLICT)
    (root / "old.txt").write_text(f"token = '{TOKEN}'\n")
    (root / "moves.py").symlink_to("old.py")
    view = folder.begin("run", atomic=atomic)
    await view.link("new.py", "old.py")
    await view.link("new.txt", "old.txt")
    await view.move("moves.py", "moved.py")
    assert await view.land(with_built_in([])) == ()
    assert (root / "new.py").is_symlink()


@pytest.mark.parametrize(
    ("path", "data", "line", "said"),
    [
        ("a.py", b"x = 1\ndef f(:\n", 2, "not Python 3."),
        ("a.py", b"return 1\n", 1, "outside function"),
        ("a.pyi", b"x = \0", None, "null bytes"),
        ("a.py", b"# coding: nonsense\nx = 1\n", None, "nonsense"),
        ("a.json", b'{"a": 1,\n "b": }', 2, "not JSON: "),
        ("a.json", b'{"a": 1} // no', 1, "not JSON: "),
        ("a.json", b"", 1, "it is empty"),
        ("settings.json", b"[1,]", 1, "not JSON: "),
        ("a.json", b"[NaN]", None, "NaN is no number"),
        ("a.json", b'"\xff"', 1, "not UTF-8"),
        ("a.json", b"[" * 100_000, None, "nested too deeply"),
        ("tsconfig.json", b'{"a": 1, // why\n "b": }', 2, "not JSON with comments"),
        ("tsconfig.json", b'"\xff"', 1, "not UTF-8"),
        ("a.toml", b"[a]\nb = \n", 2, "not TOML"),
        ("a.toml", b"a = '\xff'", 1, "not UTF-8"),
        ("a.toml", b"a = " + b"[" * 100_000, None, "nested too deeply"),
        ("a.toml", b"a = '", 1, "at its end"),
        ("a.toml", b"a = 1\na = 2\n", 2, "not TOML"),
        ("uv.lock", b"= 1", 1, "not TOML"),
        ("a.yaml", b"a:\n  - b\n c: d\n", 3, "not YAML"),
        ("a.yml", b"a: *b\n", 1, "'b' names no anchor"),
        ("a.yml", b"[" * 100_000, 1, "nested too deeply"),
        ("a.yml", b"a: \xff\xfe", None, "not YAML"),
    ],
)
async def test_a_new_file_that_does_not_parse_is_an_error(
    path: str, data: bytes, line: int | None, said: str
) -> None:
    (finding,) = await look(Syntax(), {path: data})
    assert (finding.level, finding.path, finding.code) == ("error", path, "syntax")
    assert said in finding.message
    assert line is None or finding.line == line


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.py", b"async def f():\n    return await g()\n"),
        ("a.py", b"\xef\xbb\xbfx = 1\r\n"),
        ("a.py", b'"\\d"\nassert (1, "always")\n'),  # warnings are no errors
        ("a.json", b'{"n": 1e5, "big": ' + b"9" * 6_000 + b"}"),
        ("a.json", '{"ü": "\\ud800"}'.encode("utf-16")),
        ("tsconfig.base.json", b'// why\n{"a": ["// no comment", /* so */ 1,],}\n'),
        (".vscode/tasks.json", b'{"a": 1, /* b */}'),
        (".vscode/settings.json", b"[1,]"),
        ("a.jsonc", b"[1, 2, // three\n]"),
        ("a.toml", b"a.b = 1979-05-27\n"),
        ("a.yaml", b"--- !Ref a\n...\n---\nb: !!python/object:os.system [x]\nc: &d 1\ne: *d\n"),
        ("a.yaml", b""),
        ("{{name}}/a.py", b"import {{name}}\n"),
        ("a.txt", b"def f(:"),
        ("notes.json5", b"{a: 1}"),
    ],
)
async def test_what_parses_or_is_no_language_of_ours_is_left_alone(path: str, data: bytes) -> None:
    assert await look(Syntax(), {path: data}) == []


async def test_syntax_that_the_host_lacks_passes() -> None:
    newest = b"try:\n    pass\nexcept ValueError, TypeError:\n    pass\nx = t'{1}'\n"
    assert await look(Syntax(), {"a.py": newest}) == []


@pytest.mark.parametrize(
    ("path", "data"),
    [("a.toml", b".".join([b"a"] * 900_000) + b" = 1"), ("tsconfig.json", b'"\\"' * 600_000)],
)
async def test_a_file_that_takes_for_ever_is_ended_and_holds_nobody_up(
    path: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = Asker(seconds=1)
    monkeypatch.setattr("lineshaft.workspace.guards.languages._PARSER", parser)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    found: list[Finding] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        with anyio.fail_after(50):
            found += await look(Syntax(), {path: data})
        tasks.cancel_scope.cancel()
    parser.close()
    (finding,) = found
    assert (finding.level, finding.path) == ("error", path)
    assert ticks > 5


async def test_aliases_of_yaml_do_not_multiply() -> None:
    levels = [b"a0: &a0 {k: v}"]
    levels += [
        b"a%d: &a%d {<<: [%s]}" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30)
    ]
    assert await look(Syntax(), {"bomb.yaml": b"\n".join(levels)}) == []


async def test_a_file_that_was_broken_before_is_a_warning() -> None:
    (finding,) = await look(Syntax(), {"a.py": b"def g(:\n"}, {"a.py": b"def f(:\n"})
    assert finding.level == "warning"
    assert "before" in finding.hint


async def test_a_file_that_is_broken_now_and_was_not_is_an_error() -> None:
    (finding,) = await look(Syntax(), {"a.py": b"def g(:\n"}, {"a.py": b"x = 1\n"})
    assert finding.level == "error"


async def test_a_moved_file_is_compared_with_what_it_was() -> None:
    held = Held({"b.py": b"def g(:\n"}, {"a.py": b"def f(:\n", "a.txt": b"def f(:\n"})
    moved = Change(path="b.py", kind="moved", moved_from="a.py")
    (finding,) = await guarded([Syntax()], [moved], held)
    assert finding.level == "warning"
    with pytest.raises(Guarded):  # as a text it had nothing to parse
        await guarded([Syntax()], [Change(path="b.py", kind="moved", moved_from="a.txt")], held)


async def test_what_looks_like_a_template_is_a_warning() -> None:
    (finding,) = await look(Syntax(), {"chart/values.yaml": b"a: {{ .Values.a }}\n b: c\n"})
    assert finding.level == "warning"


async def test_a_file_above_the_bound_is_not_looked_at() -> None:
    assert await look(Syntax(), {"a.json": b"[" * 2_000_001}) == []


async def test_a_deleted_file_is_not_looked_at() -> None:
    assert await look(Syntax(), {}, {"a.py": b"def f(:\n"}) == []


async def test_a_conflict_left_in_a_file_is_an_error() -> None:
    (finding,) = await look(MergeMarkers(), {"a.txt": CONFLICT}, {"a.txt": b"one\n"})
    assert (finding.level, finding.code, finding.line) == ("error", "merge-markers", 2)
    (finding,) = await look(MergeMarkers(), {"a.txt": CONFLICT.replace(b"\n", b"\r\n")})
    assert finding.line == 2


@pytest.mark.parametrize(
    "data",
    [
        b"Title\n=======\ntext\n",
        b">>>>>>> theirs\n=======\n<<<<<<< ours\n",
        b"  <<<<<<< ours\n=======\n>>>>>>> theirs\n",
        b"<<<<<<< ours\n======= not alone\n>>>>>>> theirs\n",
        b"\0" + CONFLICT,
    ],
)
async def test_what_is_no_conflict_is_left_alone(data: bytes) -> None:
    assert await look(MergeMarkers(), {"a.txt": data}) == []


async def test_a_file_that_had_conflicts_before_is_left_alone() -> None:
    before = {"a.txt": CONFLICT}
    assert await look(MergeMarkers(), {"a.txt": CONFLICT + b"more\n"}, before) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"x\n  token = '{TOKEN}'\n", "a GitHub token"),
        (f"x\n\nkey = {KEY!r}\n", "a private key"),
        (f"x\n{KEY}", "a private key"),
        ("x\n" + "sk-" + "proj-A1b2C3d4E5f6G7h8", "an API key of a model provider"),
        ("x\n" + "AKIA" + "Q3EGRZ7YWTUPLKJH", "an AWS access key"),
    ],
)
async def test_a_token_that_is_added_is_an_error_that_does_not_show_it(
    text: str, what: str
) -> None:
    held = Held({"a.py": text.encode()}, {"a.py": b"x\n"})
    with pytest.raises(Guarded, match=what) as caught:
        await guarded([Secrets()], await held.changes(), held)
    (finding,) = caught.value.findings
    assert isinstance(finding, Finding)
    assert (finding.code, finding.path) == ("secrets", "a.py")
    assert finding.line is not None
    assert finding.line > 1
    for shown in (TOKEN, "MIIE", "A1b2C3", "Q3EGRZ"):
        assert shown not in repr(finding) + str(caught.value) + caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "token = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
        "AKIA" + "IOSFODNN7EXAMPLE",
        ".sk-fading-circle-delay-12 {}",
        "if '-----BEGIN " + "RSA PRIVATE KEY-----' in text: ...",
        "api_key = os.environ['API_KEY']",
    ],
)
async def test_what_only_shows_the_form_of_a_token_is_left_alone(text: str) -> None:
    assert await look(Secrets(), {"a.py": text.encode()}) == []


@pytest.mark.parametrize("before", ["a.py", "b.py"])
async def test_a_token_that_was_there_before_is_left_alone(before: str) -> None:
    line = f"token = '{TOKEN}'\n".encode()
    after = {"a.py": b"# first\n" + line, "b.py": b"now here\n"}
    assert await look(Secrets(), after, {before: line}) == []


@given(st.text(max_size=200), st.text(max_size=200))
async def test_no_text_around_a_token_puts_it_into_a_finding(before: str, after: str) -> None:
    text = f"{before}\n{TOKEN}\n{after}".encode("utf-8", "replace")
    found = await look(Secrets(), {"a.txt": text})
    assert all(TOKEN not in repr(finding) for finding in found)
    assert found or b"\0" in text


async def test_a_changed_source_file_needs_its_companion() -> None:
    rule = Companion(changed="src/**/*.py", needs="tests/**")
    (finding,) = await look(rule, {"src/a/b.py": b"x"})
    assert (finding.level, finding.path, finding.code) == ("error", "src/a/b.py", "companion")
    assert "'tests/**'" in finding.message
    assert await look(rule, {"src/a.py": b"x", "tests/test_a.py": b"y"}) == []
    assert await look(rule, {"docs/a.md": b"x"}) == []
    assert await look(rule, {}, {"src/a.py": b"x"}) == []
    assert await look(rule, {"src/a.py": b"x"}, {"tests/test_a.py": b"y"}) == [
        finding_for("src/a.py")
    ]


def finding_for(path: str) -> Finding:
    return Finding(
        code="companion",
        message="it changed, and nothing that matches 'tests/**' did",
        level="error",
        path=path,
        hint="change a file that matches in the same run",
    )


async def test_a_companion_may_carry_the_name_of_its_file() -> None:
    rule = Companion(changed=("src/**",), needs="tests/**/test_{stem}.py", level="warning")
    both = {"src/a.py": b"x", "src/b[1].py": b"x", "tests/x/test_a.py": b"y"}
    (finding,) = await look(rule, both)
    assert (finding.path, finding.level) == ("src/b[1].py", "warning")
    assert await look(rule, both | {"tests/test_b[1].py": b"z"}) == []


async def test_a_companion_that_changed_earlier_in_the_run_counts() -> None:
    held = Held({"src/a.py": b"x", "tests/test_a.py": b"y"})
    stage = [Change(path="src/a.py", kind="created", stage=2)]
    rule = Companion(changed="src/**", needs="tests/**")
    assert await guarded([rule], stage, held) == ()


async def test_levels_say_what_a_finding_does() -> None:
    broken = {"a.py": b"def f(:\n" + CONFLICT + TOKEN.encode()}
    for kind in (Syntax, MergeMarkers, Secrets):
        assert [f.level for f in await look(kind(level="error"), broken)] == ["error"]
        assert [f.level for f in await look(kind(level="warning"), broken)] == ["warning"]
        assert await look(kind(level="off"), broken) == []
        with pytest.raises(ConfigError, match="'loud'"):
            kind(level="loud")  # pyright: ignore[reportArgumentType]  it is wrong
    rule = Companion(changed="*.py", needs="tests/**", level="off")
    assert await look(rule, broken) == []


@pytest.mark.parametrize("globs", ["", (), ("a", " ")])
def test_a_companion_rule_without_a_glob_is_refused(globs: str | tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="changed is empty"):
        Companion(changed=globs, needs="tests/**")


def test_given_guards_are_asked_after_the_built_in_ones_and_may_replace_them() -> None:
    rule = Companion(changed="src/**", needs="tests/**")
    assert with_built_in(()) == (Syntax(), MergeMarkers(), Secrets())
    assert with_built_in([rule]) == (Syntax(), MergeMarkers(), Secrets(), rule)
    assert with_built_in([Syntax(level="warning"), rule]) == (
        MergeMarkers(),
        Secrets(),
        Syntax(level="warning"),
        rule,
    )
    assert with_built_in([Secrets(level="off")]) == (Syntax(), MergeMarkers())
    assert with_built_in(None) == ()
    with pytest.raises(ConfigError, match="'syntax' is no guard"):
        with_built_in(["syntax"])  # pyright: ignore[reportArgumentType]  it is wrong
