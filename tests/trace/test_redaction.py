"""What the redactor takes out of texts and values."""

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lineshaft.trace import HIDDEN, RedactedStream, Redactor, secret_values
from lineshaft.values import Change

BODY = "aB3dEfGhIjKlMnOpQrStUvWxYz0123456789"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\nMIIE{BODY}\n{BODY}\n-----END RSA PRIVATE KEY-----"

TOKENS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    f"ghp_{BODY}",
    f"ghs_{BODY}",
    f"github_pat_{BODY}",
    f"glpat-{BODY}",
    f"xoxb-123456789012-{BODY}",
    f"xapp-1-{BODY}",
    f"sk-proj-{BODY}",
    f"sk-ant-api03-{BODY}",
    f"sk_live_{BODY}",
    f"AIza{BODY[:35]}",
    f"ya29.{BODY}",
    f"npm_{BODY}",
    f"pypi-AgE{BODY}",
    f"hf_{BODY}",
    f"SG.{BODY}.{BODY}",
    f"dop_v1_{'0a' * 32}",
    f"hvs.{BODY}",
    f"dapi{'0a' * 16}",
    f"AGE-SECRET-KEY-{BODY.upper()}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl-_",
]


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_of_a_known_form_goes_wherever_it_stands(token: str) -> None:
    redact = Redactor().text
    assert redact(token) == HIDDEN
    assert redact(f"got {token}, thanks") == f"got {HIDDEN}, thanks"
    assert redact(f'{{"a": "{token}"}}') == f'{{"a": "{HIDDEN}"}}'
    assert token not in redact(f"one\\n{token}\\n")
    assert token not in redact(f"q=%22{token}%22")


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"a\n{KEY}\nb", f"a\n{HIDDEN}\nb"),
        (KEY[:-20], HIDDEN),
        (f"{KEY}\n{KEY}", f"{HIDDEN}\n{HIDDEN}"),
        ("postgres://me:p@ss:w@host/db", f"postgres://me:{HIDDEN}@host/db"),
        (f"https://{BODY}@host/x", f"https://{HIDDEN}@host/x"),
        (
            f"https://hooks.slack.com/services/T0/B0/{BODY}",
            f"https://hooks.slack.com/services/{HIDDEN}",
        ),
        (f"https://d.com/api/webhooks/12/{BODY}", f"https://d.com/api/webhooks/12/{HIDDEN}"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {HIDDEN}"),
        (f"-H 'authorization: bearer {BODY}'", f"-H 'authorization: bearer {HIDDEN}'"),
        (f"Bearer {BODY}", f"Bearer {HIDDEN}"),
        ("Set-Cookie: sid=1; Path=/\nx", f"Set-Cookie: {HIDDEN}\nx"),
        (f"GET /x?sig={BODY}&v=1", f"GET /x?sig={HIDDEN}&v=1"),
        ("password=hunter2", f"password={HIDDEN}"),
        ("DB_PASSWORD: hunter2", f"DB_PASSWORD: {HIDDEN}"),
        ("PGPASSWORD=hunter2 psql", f"PGPASSWORD={HIDDEN} psql"),
        ("passwd := 'two words'", f"passwd := '{HIDDEN}'"),
        ('{"clientSecret": "a\\"b", "n": 1}', f'{{"clientSecret": "{HIDDEN}", "n": 1}}'),
        ('"{\\"token\\": \\"abc\\"}"', f'"{{\\"token\\": \\"{HIDDEN}\\"}}"'),
        ("token = f'abc'", f"token = f'{HIDDEN}'"),
        ("password='open end", f"password='{HIDDEN}"),
        ("/x?api_key=abcd&y=1", f"/x?api_key={HIDDEN}&y=1"),
        ("STRIPE_KEY=abcd", f"STRIPE_KEY={HIDDEN}"),
        ("author: password=hunter2", f"author: password={HIDDEN}"),
        ("AccountKey=abc==;Endpoint=x", f"AccountKey={HIDDEN};Endpoint=x"),
        ("mysql --password hunter2 -x", f"mysql --password {HIDDEN} -x"),
        ("OLDPWD=/home/me", "OLDPWD=/home/me"),
    ],
)
def test_a_secret_goes_and_what_surrounds_it_stays(text: str, redacted: str) -> None:
    assert Redactor().text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "task-force-one-two-three-four",
        "https://host:8080/a@b",
        "ssh://git@host/x",
        "mail me@host.org",
        "tokenizer=abcdef",
        "AUTHOR=somebody",
        "max_tokens=4096",
        "token_count: 4096",
        "token: str",
        "password: Optional[str]",
        "token = next(tokens)",
        "password=password",
        "token=self._token",
        "sorted(rows, key=lambda row: row.name)",
        "primary key: id",
        "secrets: 12",
        "unauthorized: no",
        "the bearer of this letter",
        "eyJust.a.word",
        "PWD=/home/me",
        "--token-limit 5",
        "cookiecutter: yes",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor().text(text) == text


FRAGMENTS = st.sampled_from(
    [
        *(*TOKENS, KEY, "password", "token", "=", ":", '"', "'", "\\", " ", "\n", "://", "@", "--"),
        *(
            "[redacted]",
            "abc",
            "Bearer ",
            "cookie: ",
            "sig=",
            "(",
            "-----BEGIN ",
            "PRIVATE KEY-----",
        ),
    ]
)


@given(st.lists(FRAGMENTS, max_size=12).map(" ".join))
@example("password = token AKIAIOSFODNN7EXAMPLE")  # the word before a token is no password
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    redact = Redactor(["s3cret"]).text
    assert redact(redact(text)) == redact(text)


@given(st.text(), st.text(), st.sampled_from(TOKENS))
def test_a_token_never_survives_between_blanks(before: str, after: str, token: str) -> None:
    assert token not in Redactor().text(f"{before} {token} {after}")


@given(st.text("abc/+%&\"'é ", min_size=4, max_size=12), st.text("abcx"), st.text("abcx"))
def test_a_given_value_never_survives(secret: str, before: str, after: str) -> None:
    assert secret not in Redactor([secret]).text(f"{before}{secret}{after}")


def test_a_given_value_goes_in_other_spellings_too() -> None:
    redact = Redactor(['p"ä s', "short\nline number two is long\nx"]).text
    assert redact("a=p%22%C3%A4%20s&b") == f"a={HIDDEN}&b"
    assert redact('"p\\"\\u00e4 s"') == f'"{HIDDEN}"'
    assert redact("> line number two is long") == f"> {HIDDEN}"
    assert redact("short") == "short"


def test_a_given_value_goes_where_it_is_a_number() -> None:
    redactor = Redactor(["918273645", "-4815.1623", "2024"])
    found = {"pin": [918273645, {"at": -4815.1623}], "more": 9182736451, "count": 2024, "yes": True}
    assert redactor.value(found) == {
        "pin": ["[redacted]", {"at": "[redacted]"}],
        "more": 9182736451,
        "count": 2024,
        "yes": True,
    }
    assert redactor.arguments(None, {"x": 918273645, "y": {"z": [918273645]}, "n": 5}) == {
        "x": "[redacted]",
        "y": {"z": ["[redacted]"]},
        "n": 5,
    }


def test_a_given_value_under_four_characters_would_hide_ordinary_words() -> None:
    assert Redactor(["abc", ""]).text("abcdef") == "abcdef"


def test_a_longer_given_value_goes_before_a_shorter_one_in_it() -> None:
    assert Redactor(["abcd", "abcdefgh"]).text("abcdefgh") == HIDDEN


def test_values_are_redacted_in_depth_and_by_name() -> None:
    value = {
        "user": "me",
        "password": "x",
        "accessToken": 7,
        "empty_token": "",
        "use_token": True,
        "no_token": None,
        "key": "PROJ-1",
        "api_key": "abc",
        "nested": [{"note": "password=hunter2"}, ("a", 1.5), {"secret": {"a": 1}}],
        f"ghp_{BODY}": 1,
    }
    assert Redactor().value(value) == {
        "user": "me",
        "password": HIDDEN,
        "accessToken": HIDDEN,
        "empty_token": "",
        "use_token": True,
        "no_token": None,
        "key": "PROJ-1",
        "api_key": HIDDEN,
        "nested": [{"note": f"password={HIDDEN}"}, ["a", 1.5], {"secret": HIDDEN}],
        HIDDEN: 1,
    }


def test_what_follows_a_telling_flag_is_a_secret() -> None:
    argv = ["x", "--token", "abc", "--token", "--other", "--token=abc", "y", "-p", "z"]
    assert Redactor().value(argv) == [
        *("x", "--token", HIDDEN, "--token", "--other", f"--token={HIDDEN}", "y", "-p", "z")
    ]


def test_our_own_values_become_plain_data() -> None:
    change = Change(path="password=hunter2", kind="created")
    found = Redactor().value([change])
    assert isinstance(found, list)
    assert found[0]["path"] == f"password={HIDDEN}"
    assert found[0]["kind"] == "created"


def test_what_is_no_data_is_redacted_as_its_text() -> None:
    assert Redactor().value(ValueError("password=hunter2")) == f"password={HIDDEN}"


def test_nesting_without_end_is_cut() -> None:
    value: object = "x"
    for _ in range(5_000):
        value = [value]
    assert "[deeper than 100 levels]" in str(Redactor().value(value))


def test_secrets_of_an_environment_are_known_by_their_names() -> None:
    environment = {
        "GITHUB_TOKEN": "abcdefgh",
        "HOME": "/home/me",
        "AUTH": "basic",
        "BYPASS": "x" * 9,
        "PWD": "/srv/my-project",
    }
    assert secret_values(environment) == ("abcdefgh",)


@given(st.lists(FRAGMENTS, max_size=12).map("".join), st.lists(st.integers(0, 200), max_size=5))
def test_a_text_in_pieces_is_redacted_as_in_one(text: str, cuts: list[int]) -> None:
    stream = RedactedStream(Redactor())
    edges = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert "".join([*map(stream.add, pieces), stream.end()]) == Redactor().text(text)


def test_a_stream_gives_whole_lines_at_once() -> None:
    stream = RedactedStream(Redactor())
    assert stream.add("one\ntwo") == "one\n"
    assert stream.add(" password=hun") == ""
    assert stream.add("ter2\nthree") == f"two password={HIDDEN}\n"
    assert stream.end() == "three"
    assert stream.end() == ""


def test_a_stream_does_not_hold_a_line_without_end() -> None:
    stream = RedactedStream(Redactor())
    given = "word " * 20_000 + f"ghp_{BODY[:10]}"
    first = stream.add(given)
    assert len(first) > 80_000
    assert first + stream.add(BODY[10:]) + stream.end() == "word " * 20_000 + HIDDEN
    assert len(stream.add("x" * 70_000)) > 50_000


def test_a_secret_without_end_is_not_held_and_not_shown() -> None:
    stream = RedactedStream(Redactor())
    key = f"-----BEGIN RSA PRIVATE KEY-----{'MIIEvQIBADANBgkq' * 40_000}"
    shown = "".join(stream.add(key[at : at + 9_999]) for at in range(0, len(key), 9_999))
    assert shown + stream.end() == HIDDEN


HOSTILE = """
from lineshaft.trace import Redactor, condense_command_output, cut_for_model, strip_ansi
units = [
    "a", "password", "password=", "password='", "password ", "token:", "token_", "token=a.",
    "eyJ", "eyJa", "-eyJ", "eyJaaaaaaaa.", "sk-", "://", "://a:", "://a:b", "://" + "a" * 21,
    "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----", "-----END ", "bearer ", "--", "--password",
    "cookie:", "sig=", "AKIA", "ghp_", "SG.a", "SG." + "a" * 16 + ".", "_KEY", "A_KEY=", "=:",
    "'", "hooks.slack.com/a", "/api/webhooks/1", "\\x1b", "\\x1b[", "\\x1b]", "\\x9b", "a\\r",
    "1/", "%", "x\\x08", "error ",
]
redact = Redactor(["s3cret"]).text
for unit in units:
    text = unit * (1_000_000 // len(unit))
    for take in (redact, strip_ansi, condense_command_output, cut_for_model):
        take(text)
print(len(units))
"""


@pytest.mark.long
def test_a_megabyte_of_anything_takes_time_in_proportion() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "44\n"
