"""What comes back: output, value, errors; and what a model reads of them."""

import json

import anyio
import pytest

from lineshaft import Event, Limits, Policy, tool
from support import Make, Outside


@tool(effect="read")
async def secret_page() -> str:
    """Return a text that no model should see whole."""
    return "inner-result " * 10


@pytest.mark.behaviour("E22")
async def test_results_of_inner_calls_do_not_come_back(make: Make) -> None:
    script = "page = await secret_page()\nprint('read it')\nreturn len(page)"
    async with make(secret_page) as session:
        result = await session.run(script)
        handled = await session.handle("run_script", {"code": script})
    assert (result.stdout, result.value) == ("read it\n", 130)
    assert handled.text == "read it\n130"
    assert "inner-result" not in result.json()


@pytest.mark.behaviour("E22")
async def test_stderr_is_shown_on_failure_and_where_there_is_nothing_else(make: Make) -> None:
    noisy = "import sys\nprint('warning', file=sys.stderr)\n"
    async with make() as session:
        fine = await session.handle("run_script", {"code": noisy + "return 'ok'"})
        printed = await session.handle("run_script", {"code": noisy + "print('ok')"})
        failed = await session.handle("run_script", {"code": noisy + "1 / 0"})
        alone = await session.handle("run_script", {"code": noisy})
    assert (fine.text, printed.text, alone.text) == ("ok", "ok", "warning")
    assert "warning" in failed.text


@pytest.mark.behaviour("E23")
async def test_output_over_the_cap_keeps_head_and_tail_and_counts_the_rest(make: Make) -> None:
    script = "for i in range(20000):\n    print('line', i)"
    async with make() as session:
        result = await session.run(script)
    written = sum(len(f"line {i}\n") for i in range(20000))
    assert len(result.stdout.encode()) < 50_500
    assert result.stdout.startswith("line 0\n")
    assert result.stdout.endswith("line 19999\n")
    kept = 50_000
    assert written - kept <= result.truncated["stdout"] <= written - kept + 200


@pytest.mark.behaviour("E23")
async def test_a_cut_never_splits_a_character(make: Make) -> None:
    async with make(limits=Limits(stdout_bytes=1_001)) as session:
        result = await session.run("print('é🎉' * 1000)")
    assert "�" not in result.stdout
    assert result.truncated["stdout"] > 4_000


@pytest.mark.behaviour("E23")
async def test_a_flood_ends_the_run(make: Make) -> None:
    script = "while True:\n    print('x' * 10000)"
    async with make(limits=Limits(stdout_bytes=1_000, seconds=30)) as session:
        result = await session.run(script)
    assert (result.status, result.exit_code) == ("limit", 4)
    assert result.error is not None
    assert "stdout" in result.error.message + result.error.hint


@pytest.mark.behaviour("E24")
async def test_text_for_a_model_is_cut_to_4000_characters_and_never_empty(make: Make) -> None:
    async with make() as session:
        long = await session.handle("run_script", {"code": "return 'a' * 3000 + 'b' * 9000"})
        empty = await session.handle("run_script", {"code": "None"})
    assert 3_000 < len(long.text) <= 4_200
    assert long.text.startswith("aaa")
    assert "bbb\n[all 12,000 characters: read_result('result-" in long.text
    assert empty.text.strip()


@pytest.mark.behaviour("E24")
async def test_a_printed_list_is_an_answer_and_stays_as_it_is(make: Make) -> None:
    script = "for i in range(30):\n    print('same.py')"
    async with make() as session:
        handled = await session.handle("run_script", {"code": script})
    assert handled.text == "\n".join(["same.py"] * 30)


@pytest.mark.behaviour("E24")
async def test_the_time_out_is_visible_in_the_text(make: Make) -> None:
    request = {"code": "print('begun')\nwhile True: pass", "timeout_seconds": 0.3}
    async with make() as session:
        handled = await session.handle("run_script", request)
    assert "begun" in handled.text
    assert "E_TIMEOUT" in handled.text
    assert "0.3 s" in handled.text


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.behaviour("E24", "G30")
async def test_secrets_are_redacted_before_anything_is_cut(make: Make) -> None:
    events: list[str] = []

    def note(event: Event) -> None:
        events.append(repr(event))

    # The token stands across the place where the text is cut.
    script = f"pad = 'x' * 1515\nprint(pad + ' {TOKEN} ' + 'y' * 9000)\nawait poke(what='{TOKEN}')"
    async with make(sinks=[note], secrets=["hush-hush"]) as session:
        handled = await session.handle("run_script", {"code": script})
        own = await session.handle("run_script", {"code": "return 'say hush-hush now'"})
        result = await session.run(script)
    seen = [handled.text, own.text, *events, repr(result.calls)]
    for text in seen:
        assert "hush-hush" not in text
        assert not any(TOKEN[:n] in text for n in range(12, len(TOKEN)))
    assert "say" in own.text


@pytest.mark.behaviour("E24")
async def test_a_secret_as_a_key_reaches_no_model(make: Make) -> None:
    async with make(secrets=["hush-hush"]) as session:
        handled = await session.handle("run_script", {"code": "return {'hush-hush': 'hush-hush'}"})
        data = session.without_secrets({"hush-hush": ["hush-hush"]})
        numbered = session.without_secrets({5: "hush-hush"})
    assert "hush-hush" not in repr(handled)
    assert data == {"[redacted]": ["[redacted]"]}
    assert numbered == {"5": "[redacted]"}


@pytest.mark.behaviour("E24")
async def test_colour_codes_are_taken_out_of_what_a_model_reads(make: Make) -> None:
    async with make() as session:
        handled = await session.handle("run_script", {"code": "print('\\x1b[31mred\\x1b[0m')"})
    assert handled.text == "red"


@pytest.mark.behaviour("E22")
@pytest.mark.parametrize("last", ["return 'scheduled'", "print('scheduled')"])
async def test_a_task_that_nothing_awaits_is_told_beside_the_value(make: Make, last: str) -> None:
    script = f"""import sys
async def go():
    await asyncio.sleep(60)
    await write_file("a.txt", "x")

asyncio.create_task(go())
print("a log", file=sys.stderr)
await asyncio.sleep(0)
{last}
"""
    async with make() as session:
        result = await session.run(script)
        text = session.told(result).text
    assert result.status == "success"
    line = (
        "a task was cancelled before it was done: go() (line 3: await asyncio.sleep(60)); await it"
    )
    assert text == f"scheduled\n{line}"


@pytest.mark.behaviour("E25")
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("{1, 2}", "set"),
        ("b'x'", "bytes"),
        ("lambda: 1", "function"),
        ("float('nan')", "nan"),
        ("{1: 2}", "the key 1"),
        ("[1, {'a': {2}}]", "set"),
        ("[10**5000]", "an int of too many digits"),
    ],
)
async def test_a_value_that_is_not_json_is_an_error_that_names_its_type(
    make: Make, value: str, kind: str
) -> None:
    async with make() as session:
        result = await session.run(f"x = 1\nreturn {value}")
    assert (result.status, result.value) == ("error", None)
    assert result.error is not None
    assert result.error.code == "E_NOT_JSON"
    assert kind in result.error.message
    assert result.json()


@pytest.mark.behaviour("E25")
@pytest.mark.parametrize(
    ("script", "line", "said"),
    [
        ("a = 1\nb = 2\n1 / 0\n", 3, "ZeroDivisionError"),
        ("def f(x):\n    return x['k']\n\nprint('hi')\nf({})\n", 2, "KeyError"),
        ("x = (1,\n     2\n", 1, "never closed"),
        ("async def g():\n    raise ValueError('deep')\n\nawait g()", 2, "deep"),
    ],
)
async def test_errors_carry_the_line_as_written(
    make: Make, script: str, line: int, said: str
) -> None:
    async with make() as session:
        result = await session.run(script, name="mine.py")
    assert (result.status, result.exit_code) == ("error", 1)
    assert result.error is not None
    assert result.error.line == line
    assert said in result.error.message + result.error.traceback + result.error.code
    assert "python-input" not in result.json()


@pytest.mark.behaviour("E25")
async def test_an_error_lists_the_calls_that_already_took_effect(
    make: Make, outside: Outside
) -> None:
    script = "await poke(what='first')\nawait poke(what='second')\n1 / 0"
    async with make() as session:
        result = await session.run(script)
        handled = await session.handle("run_script", {"code": script})
    assert [call.arguments["what"] for call in result.effects] == ["first", "second"]
    assert "already done" in handled.text
    assert "first" in handled.text
    assert outside.total == 4


@pytest.mark.behaviour("E25")
async def test_a_call_that_failed_is_not_told_as_done(make: Make) -> None:
    @tool(effect="external")
    async def send(to: str) -> str:
        """Send something; it breaks off for one of them."""
        if to == "b":
            raise OSError("connection lost")
        return to

    script = "await send(to='a')\nawait send(to='b')"
    async with make(send, policy=Policy("open")) as session:
        handled = await session.handle("run_script", {"code": script})
    told = "already done: send(to=a); send(to=b) (failed: in part, or not at all)"
    assert told in handled.text


@pytest.mark.behaviour("E25")
async def test_a_call_that_was_ended_in_the_middle_is_told(make: Make) -> None:
    begun = anyio.Event()

    @tool(effect="external")
    async def send(to: str) -> str:
        """Send something; it never ends for one of them."""
        if to == "b":
            begun.set()
            await anyio.sleep_forever()
        return to

    script = "await send(to='a')\nawait asyncio.gather(send(to='b'), send(to='c'))"
    async with make(send, policy=Policy("open")) as session:
        run = await session.start(script)
        await begun.wait()
        run.cancel()
        result = await run.result()
        told = session.told(result).text
    assert [call.arguments["to"] for call in result.effects] == ["a", "b"]
    assert "already done: send(to=a); send(to=b) (cancelled: in part, or not at all)" in told


@pytest.mark.behaviour("E25")
@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("x = 'abc'\nreturn x['key']", "json"),
        ("import numpy", "lists"),
    ],
)
async def test_known_kinds_of_failure_get_a_hint(make: Make, script: str, word: str) -> None:
    async with make(engine="wasm") as session:
        result = await session.run(script)
    assert result.error is not None
    assert word in result.error.hint


@pytest.mark.behaviour("E23")
async def test_the_counters_say_what_stayed_out_of_the_models_context(make: Make) -> None:
    async with make(secret_page) as session:
        result = await session.run("return len(await secret_page())")
    assert result.usage.calls == {"secret_page": 1}
    assert result.usage.bytes_in == len(json.dumps("inner-result " * 10))
    assert result.usage.bytes_kept == result.usage.bytes_in - result.usage.bytes_out


@pytest.mark.behaviour("E25")
async def test_a_call_in_a_script_fails_with_the_advice_that_it_has_alone(make: Make) -> None:
    arguments = {"command": "ls | wc"}
    policy = Policy(mode="open")
    async with make(policy=policy) as session:
        alone = await session.call("run_command", arguments)
        result = await session.run('return await run_command("ls | wc")')
        caught = await session.run(
            'try:\n    await run_command("ls | wc")\nexcept ToolError:\n    raise ValueError'
        )
    assert alone.error is not None
    assert result.error is not None
    assert caught.error is not None
    assert "sh -c" in alone.error.hint
    assert result.error.hint == alone.error.hint
    assert caught.error.hint == ""
