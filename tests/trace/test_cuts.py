"""Wherever text is cut, capped or hashed, no secret leaves in part: each place, at each offset."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft import Context, Limits, Policy, Session, Tool, kit, tool
from lineshaft.errors import Guarded
from lineshaft.mcp._text import clean
from lineshaft.processes import Capture
from lineshaft.tools import detailed
from lineshaft.trace import HIDDEN, RedactedStream, Redactor, cut_for_model
from lineshaft.values import (
    Change,
    Event,
    Finding,
    PythonOptions,
    Stage,
    ToolSpec,
    beginning,
    ending,
)

SECRET = "hunter-two-Kx7Qp2Wv9Zt4Rb8"  # noqa: S105  a test's, of no known form
SPACED = "correct horse battery staple"
REDACTOR = Redactor([SECRET, SPACED])
OPEN = Policy.from_dict({"mode": "open"})
SHORTEST = 5
"""So many characters of a secret are not seen anywhere."""

PARTS = [SECRET[at : at + SHORTEST] for at in range(len(SECRET) - SHORTEST + 1)]


def leaks(text: str) -> list[str]:
    """Return the parts of the secret that a text shows."""
    return [part for part in PARTS if part in text]


def across(cut: int, *, step: int = 1) -> Iterator[str]:
    """Yield texts in which the secret stands before, across and behind a cut."""
    for at in range(cut - len(SECRET) - 2, cut + 3, step):
        yield ("word " * (at // 5 + 1))[: at - 1] + f" {SECRET} and more words" * 40


@pytest.mark.parametrize("quoted", ["{}", '{{"key":"{}"}}', "<b>{}</b>", "k={},"])
@given(before=st.integers(0, 60), after=st.integers(0, 60), most=st.integers(1, 140))
def test_the_word_at_an_edge_is_there_whole_or_not_at_all(
    quoted: str, before: int, after: int, most: int
) -> None:
    text = f"{'w ' * before}x {quoted.format(SECRET)} y{' w' * after}"
    for kept in (beginning(text, most), ending(text, most)):
        assert len(kept) <= most
        assert kept in text
        # A cut inside of the only word that is left is the one case in which nothing can be done.
        whole = most >= len(quoted.format(SECRET)) + 2
        assert not (whole and leaks(kept) and SECRET not in kept)


@pytest.mark.parametrize("lines", [True, False])
def test_captured_output_has_no_half_of_a_secret_at_its_edges(lines: bool) -> None:
    space = "\n" if lines else " "
    for shift in range(60):
        capture = Capture(2_000)
        capture.add((f"{'x' * shift}{space}" + f"token {SECRET}{space}" * 400).encode())
        text = capture.text()
        assert f"{capture.dropped:,} bytes left out" in text
        assert leaks(REDACTOR.text(text)) == []


@pytest.mark.parametrize("secret", [SECRET, SPACED, f"ghp_{'aB3dE6gH9k' * 4}"])
def test_no_secret_in_a_long_word_is_cut_where_output_is(secret: str) -> None:
    for shift in range(0, 120, 3):
        capture = Capture(2_000, secrets=REDACTOR)
        capture.add("x" * (740 + shift) + f"={secret}=" + "x" * 9_000)
        capture.add(f"={secret}=" + "x" * (1_140 + shift))
        text = capture.text()
        assert f"{capture.dropped:,} bytes left out" in text
        assert capture.dropped < 9_500
        rest = REDACTOR.text(text).replace(HIDDEN, "")
        assert [p for p in (secret[:9], secret[-9:], secret[9:18]) if p in rest] == []


def test_a_secret_as_long_as_it_likes_is_not_cut() -> None:
    secret = "".join(chr(0x4E00 + at % 7_919) for at in range(40_000))
    redactor = Redactor([secret])
    capture = Capture(2_000, secrets=redactor)
    capture.add(f"{'x' * 700}{secret}{'x' * 300}")
    assert secret[:9] not in redactor.text(capture.text())
    assert secret[-9:] not in redactor.text(capture.text())


def test_a_key_block_that_an_edge_goes_through_is_gone() -> None:
    lines = [f"{n:02d}MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" for n in range(26)]
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])
    for shift in range(500, 2_000, 45):
        capture = Capture(2_000)
        capture.add(f"{'word ' * (shift // 5)}\n{key}\n{'more of it ' * 60}")
        assert capture.truncated
        assert "MIIE" not in REDACTOR.text(capture.text())


async def test_what_a_script_prints_is_cut_between_words(tmp_path: Path) -> None:
    script = f"print(('x' * shift) + ' {SECRET} word' * 200)"
    limits = Limits(stdout_bytes=1_000)
    async with Session(workspace=tmp_path, limits=limits, secrets=[SECRET], store=False) as session:
        for shift in range(40):
            result = await session.run(script, inputs={"shift": shift})
            assert result.truncated["stdout"] > 1_000
            assert leaks(session.told(result).text) == []


@pytest.mark.long
@pytest.mark.parametrize("boundary", [None, "wasm"])
async def test_no_secret_in_a_long_word_is_cut_by_any_tool(
    boundary: str | None, tmp_path: Path
) -> None:
    told: list[str] = []
    async with Session(
        kit.tools(),
        workspace=tmp_path,
        policy=OPEN,
        secrets=[SECRET],
        python=PythonOptions(boundary=boundary),
        store=False,
    ) as session:

        async def tell(name: str, **arguments: object) -> None:
            found = session.told(await session.call(name, arguments), tool=name)
            told.append(f"{found.text}{json.dumps(found.structured)}")
            script = f"return await {name}(**arguments)"
            result = await session.run(script, inputs={"arguments": arguments})
            told.append(f"{session.told(result).text}{json.dumps(session.told(result).structured)}")

        for at in (19_981, 19_991, 29_981):
            code = f"print('x' * {at} + '{SECRET}' + 'x' * 60_000, end='')"
            if boundary is None:
                await tell("run_command", command="python3", args=["-c", code])
            await tell("python_run", code=code)
        (tmp_path / "long.txt").write_text("x" * 49_990 + SECRET + "x" * 9)
        handled = await session.handle("read_file", {"path": "long.txt"})
        told.append(f"{handled.text}{json.dumps(handled.structured)}")
        (tmp_path / "long.txt").write_text("x" * 1_990 + SECRET + "x" * 9)
        handled = await session.handle("search_text", {"path": "long.txt", "pattern": "xx"})
        told.append(f"{handled.text}{json.dumps(handled.structured)}")
        result = await session.run(f"print('x' * 19_990 + '{SECRET}' + 'x' * 60_000)")
        told.append(f"{session.told(result).text}{json.dumps(session.told(result).structured)}")
        result = await session.run(f"raise ValueError('x' * 99_990 + '{SECRET}')")
        told.append(f"{session.told(result).text}{json.dumps(session.told(result).structured)}")
    assert all("xxxxxx" in each for each in told)
    assert [leaks(each) for each in told if leaks(each)] == []


@pytest.mark.long
async def test_files_are_read_searched_and_run_without_half_a_secret(tmp_path: Path) -> None:
    (tmp_path / "say.py").write_text("import sys; print(sys.stdin.read() or open('out').read())")
    told: list[str] = []
    async with Session(
        kit.tools(), workspace=tmp_path, policy=OPEN, secrets=[SECRET], store=False
    ) as session:

        async def tell(name: str, **arguments: object) -> None:
            done = await session.call(name, arguments)
            assert done.error is None or done.error.code == "E_TOOL_TIMEOUT"
            found = session.told(done, tool=name)
            told.append(f"{found.text}{json.dumps(found.structured)}")

        for text in across(50_000, step=3):
            (tmp_path / "long.txt").write_text(text)
            await tell("read_file", path="long.txt")
        for text in across(2_000, step=3):
            (tmp_path / "long.txt").write_text(text)
            await tell("search_text", pattern="word", path="long.txt")
        for shift in range(0, 40, 9):
            code = f"print('x' * {shift} + ' {SECRET} word' * 9_000, flush=True)"
            await tell("run_command", command="python3", args=["-c", code])
            slow = f"{code}; import time; time.sleep(60)"
            await tell("run_command", command="python3", args=["-c", slow], timeout=0.7)
    assert [leaks(each) for each in told if leaks(each)] == []


@pytest.mark.parametrize("raises", [True, False])
async def test_what_guards_say_is_cut_between_words(tmp_path: Path, raises: bool) -> None:
    said = [""]

    def guard(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        if raises:
            raise RuntimeError(said[0])
        return [Finding(code="own", message=said[0], level="error")]

    events: list[Event] = []
    async with Session(
        kit.tools(),
        workspace=tmp_path,
        policy=OPEN,
        guards=[guard],
        secrets=[SECRET],
        sinks=[events.append],
        store=False,
    ) as session:
        for said[0] in across(1_000, step=2):
            result = await session.run("await write_file(path='a', content='b')")
            assert result.error is not None
            assert result.error.code == Guarded.code
            assert leaks(session.told(result).text) == []
    assert leaks(str([event.data for event in events])) == []


async def test_a_wrong_argument_is_not_quoted_in_part(tmp_path: Path) -> None:
    @tool(effect="read")
    async def count(number: int) -> int:
        """Count."""
        return number

    events: list[Event] = []
    async with Session(
        [count],
        workspace=tmp_path,
        policy=OPEN,
        secrets=[SECRET],
        sinks=[events.append],
        store=False,
    ) as session:
        for shift in range(40):
            done = await session.call("count", {"number": "x" * shift + SECRET})
            assert done.error is not None
            assert leaks(session.told(done, tool="count").text) == []
    assert leaks(str([event.data for event in events])) == []


async def test_notes_and_progress_of_a_tool_are_redacted_before_they_are_cut(
    tmp_path: Path,
) -> None:
    @tool(effect="read")
    async def notes(text: str, context: Context) -> None:
        """Say something."""
        context.log(text)
        context.progress(1, 2, text)

    events: list[Event] = []
    async with Session(
        [notes],
        workspace=tmp_path,
        policy=OPEN,
        secrets=[SECRET, SPACED],
        sinks=[events.append],
        store=False,
    ) as session:
        for text in across(2_000):
            for secret in (SECRET, SPACED):
                await session.call("notes", {"text": text.replace(SECRET, secret)})
    said = [str(event.data["text"]) for event in events if event.kind in ("log", "progress")]
    assert len(said) == 4 * len(list(across(2_000)))
    assert max(map(len, said)) <= 2_000
    assert [leaks(each) for each in said if leaks(each)] == []
    assert [each for each in said if "correct" in each or "battery" in each] == []


async def test_what_a_tool_asks_a_person_has_no_secret(tmp_path: Path) -> None:
    asked: list[str] = []

    async def elicit(message: str, schema: Mapping[str, object]) -> object:
        asked.append(f"{message}{schema}")
        return {"name": "x"}

    @tool(effect="read")
    async def asks(context: Context) -> object:
        """Ask for a name."""
        about = {"type": "string", "description": f"not {SECRET}"}
        schema = {"type": "object", "properties": {"name": about}}
        return await context.elicit(f"{'word ' * 395}is it {SPACED}?", schema)

    async with Session(
        [asks],
        workspace=tmp_path,
        policy=OPEN,
        elicit=elicit,
        secrets=[SECRET, SPACED],
        store=False,
    ) as session:
        assert (await session.call("asks")).value == {"name": "x"}
    [shown] = asked
    assert shown.count(HIDDEN) == 2
    assert leaks(shown) == []
    assert "correct" not in shown


def test_what_servers_say_is_cut_between_words() -> None:
    for text in across(2_000):
        assert leaks(REDACTOR.text(clean(text, 2_000))) == []


def test_descriptions_are_cut_between_words() -> None:
    for text in across(500, step=2):
        spec = ToolSpec(name="long", description=text * 30)
        assert leaks(REDACTOR.text(detailed(spec))) == []


async def test_a_search_gives_no_half_of_a_description(tmp_path: Path) -> None:
    async def say() -> None: ...

    tools = [
        Tool.from_function(say, name=f"say_{n}", description=text, effect="read")
        for n, text in enumerate(across(500))
    ]
    async with Session(tools, workspace=tmp_path, policy=OPEN, store=False) as session:
        found = await session.call("search_tools", {"words": "say word", "limit": 50})
    listed = cast("list[dict[str, str]]", found.value)
    assert len(listed) == len(tools)
    assert [leaks(REDACTOR.text(each["description"])) for each in listed] == [[]] * len(listed)


def test_a_stream_without_blanks_is_cut_between_its_words() -> None:
    for shift in range(0, 60, 7):
        stream = RedactedStream(REDACTOR)
        text = "x" * shift + f'{{"t":"{SECRET}"}},' * 4_000
        shown = "".join(stream.add(text[at : at + 997]) for at in range(0, len(text), 997))
        assert len(shown) > 30_000
        assert leaks(shown + stream.end()) == []


def test_a_stream_without_any_mark_shows_no_half_of_a_secret() -> None:
    stream = RedactedStream(REDACTOR)
    text = "".join(f"{'x' * (n * 997)}{SECRET}" for n in range(30))
    shown = "".join(stream.add(text[at : at + 997]) for at in range(0, len(text), 997))
    assert len(shown) > 100_000
    assert leaks(shown + stream.end()) == []


def test_text_for_a_model_is_cut_after_it_was_redacted() -> None:
    for text in across(1_600, step=2):
        assert leaks(cut_for_model(REDACTOR.text(text * 3))) == []


async def test_the_hash_of_a_script_is_no_way_to_guess_a_secret_in_it(tmp_path: Path) -> None:
    events: list[Event] = []
    hashes: list[object] = []
    for secret in ("first-secret-1", "other-secret-2"):
        async with Session(
            workspace=tmp_path, secrets=[secret], sinks=[events.append], store=False
        ) as session:
            await session.run(f"return len('{secret}')")
        hashes.append(next(e.data["script_sha256"] for e in events if e.kind == "run_started"))
        events.clear()
    assert hashes[0] == hashes[1]
