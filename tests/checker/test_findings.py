"""What the type checker says of scripts, with the real `ty`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from checker.asking import STUBS, found
from lineshaft.checker import TyChecker
from lineshaft.values import PythonTarget, Stubs


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def checker() -> AsyncIterator[TyChecker]:
    checker = TyChecker()
    yield checker
    await checker.aclose()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("await read_file()", ("missing-argument", 1, 7)),
        ("\n\nawait read_file(pth='a')", ("unknown-argument", 3, 17)),
        ("é = 'ü€𝄞'; await read_file(1)", ("invalid-argument-type", 1, 28)),
        ("if 1:\n\tawait read_file(1)", ("invalid-argument-type", 2, 18)),
        ("x = 1\r\nawait read_file(1)\r\n", ("invalid-argument-type", 2, 17)),
        ("\ufeffawait read_file(1)", ("invalid-argument-type", 1, 17)),
        ("\fawait read_file(1)", ("invalid-argument-type", 1, 18)),
        ("s = '''\n  a\n'''\nawait read_file(1)", ("invalid-argument-type", 4, 17)),
        ("s = '\ud800'\nawait read_file(1)", ("invalid-argument-type", 2, 17)),
        ("await tools.nope()", ("missing-attribute", 1, 7)),
        ("await github.list_issues(repo=4)", ("invalid-argument-type", 1, 26)),
        ("await deep.er.dig('x')", ("invalid-argument-type", 1, 19)),
        ("import deep.er\nawait deep.er.dig('x')", ("invalid-argument-type", 2, 19)),
        ("from github import *\nawait list_issues()", ("missing-argument", 2, 7)),
        ("from tools import *\nawait read_file()", ("missing-argument", 2, 7)),
        ("return nope", ("unresolved-reference", 1, 8)),
        ("t = read_file('a')\nreturn t['content']", ("not-subscriptable", 2, 8)),
        ("t = await read_file('a')\nreturn t['contents']", ("invalid-typed-dict-key", 2, 10)),
        ("import numpy", ("import-not-found", 1, 8)),
    ],
)
async def test_a_mistake_is_found_where_it_stands(
    checker: TyChecker, source: str, expected: tuple[str, int, int]
) -> None:
    assert expected in await found(checker, source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# nothing but a comment",
        "text = await read_file('a')\nreturn text['content']",
        "def add():\n    global total\n    total = 1\ntotal = 0\nadd()\nreturn total",
        "from __future__ import annotations\nreturn 1",
        "from github import *\nawait list_issues(repo='a')",
        "async def inner():\n    return await read_file('a')\nreturn await inner()",
        "class A:\n    json = json\n    x = 1\n    y = x\nreturn A.y",
        "x = 1\nclass A:\n    x = x\nreturn A.x",
        "def read_file(n: int) -> int:\n    return n\nreturn read_file(1)",
        "for json in range(3):\n    print(json + 1)",
        "type Number = int\ndef first[T](of: list[T]) -> T:\n    return of[0]\nreturn first([1])",
        "name = 'a'\nreturn f'{'b' + name}'",
        "return await",  # syntax is the compiler's to judge
    ],
)
async def test_what_a_script_may_hold_is_not_refused(checker: TyChecker, source: str) -> None:
    assert await found(checker, source) == []


async def test_inputs_are_typed(checker: TyChecker) -> None:
    assert await found(checker, "return city + 1", city="str") == [("unsupported-operator", 1, 8)]
    assert await found(checker, "return rows[0]['n'] + 1", rows="list[dict[str, Any]]") == []
    assert await found(checker, "return city", rows="int") == [("unresolved-reference", 1, 8)]
    assert await found(checker, "await read_file(1)", city="str", rows="Any") == [
        ("invalid-argument-type", 1, 17)
    ]


async def test_an_input_may_be_given_another_value(checker: TyChecker) -> None:
    assert await found(checker, "city = len(city)\nreturn city + 1", city="str") == []


async def test_a_script_leaves_nothing_behind_for_the_next(checker: TyChecker) -> None:
    assert await found(checker, "secret = 1\nglobal shared\nshared = 2") == []
    assert await found(checker, "return secret") == [("unresolved-reference", 1, 8)]
    assert await found(checker, "return shared") == [("unresolved-reference", 1, 8)]


async def test_each_set_of_stubs_is_kept_apart(checker: TyChecker) -> None:
    for number in (*range(6), 0):
        stubs = Stubs(main=f"async def only_{number}() -> int: ...\n")
        good = await checker.check(f"await only_{number}()", stubs=stubs, inputs={})
        bad = await checker.check("await only_9()", stubs=stubs, inputs={})
        assert (good, bad[0].code) == ((), "unresolved-reference")


async def test_packages_of_the_host_are_unknown_and_those_of_the_target_known(
    checker: TyChecker, tmp_path: Path
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("def price(of: str) -> int:\n    return 1\n")
    target = PythonTarget(packages=(str(tmp_path),))
    assert await found(checker, "import pydantic") == [("import-not-found", 1, 8)]
    assert await found(checker, "import shop") == [("import-not-found", 1, 8)]
    assert await found(checker, "import pydantic", target=target) == [("import-not-found", 1, 8)]
    assert await found(checker, "import shop\nreturn shop.price(1)", target=target) == [
        ("invalid-argument-type", 2, 19)
    ]


async def test_a_namespace_wins_over_a_module_of_the_same_name(checker: TyChecker) -> None:
    stubs = Stubs(
        main="import email as email, typing as typing\n",
        modules={"email": GITHUB_LIKE, "typing": GITHUB_LIKE},
    )
    for name in ("email", "typing"):
        (said,) = await checker.check(f"await {name}.send(1)", stubs=stubs, inputs={})
        assert said.code == "invalid-argument-type"


GITHUB_LIKE = "async def send(to: str) -> None: ...\n"


async def test_a_tool_wins_over_a_builtin_of_the_same_name(checker: TyChecker) -> None:
    stubs = Stubs(main="async def open(number: int) -> None: ...\n")
    (said,) = await checker.check("await open('a')", stubs=stubs, inputs={})
    assert said.code == "invalid-argument-type"


async def test_each_python_has_its_own_syntax_and_library(checker: TyChecker) -> None:
    older = PythonTarget(version="3.11")
    source = "type Number = int\nimport tomllib\nfrom itertools import batched"
    assert await found(checker, source) == []
    said = await checker.check(source, stubs=STUBS, inputs={}, target=older)
    assert [(one.code, one.line) for one in said] == [
        ("newer-syntax", 1),
        ("missing-module-member", 3),
    ]
    assert "3.12" in said[0].message


async def test_no_message_names_a_place_of_this_machine(checker: TyChecker) -> None:
    source = "import numpy\nawait read_file(1)\nawait nope()\nfrom github import nothing"
    said = await checker.check(source, stubs=STUBS, inputs={})
    assert len(said) == 4
    assert not any("/" in one.message or "\n\n" in one.message for one in said)


async def test_800_tools_and_a_dotted_namespace_are_checked(checker: TyChecker) -> None:
    main = "".join(f"async def tool_{n}(of: str) -> dict[str, int]: ...\n" for n in range(800))
    stubs = Stubs(main=main, modules={"a.b.c": "async def go(n: int) -> int: ...\n"})
    for number in (0, 799):
        (said,) = await checker.check(f"await tool_{number}(1)", stubs=stubs, inputs={})
        assert (said.code, said.column) == (
            "invalid-argument-type",
            len(f"await tool_{number}(") + 1,
        )
    (said,) = await checker.check("import a.b.c\nawait a.b.c.go('x')", stubs=stubs, inputs={})
    assert (said.code, said.line) == ("invalid-argument-type", 2)


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 50_000 + "1",
        "x = " + "[" * 5_000,
        "x = f(" * 5_000,
        "if 1:\n" + "".join(" " * n + "if 1:\n" for n in range(1, 200)),
        "x = " + "1" * 5_000,
        "x = " + " + ".join("1" for _ in range(20_000)),
        "global while, x y, 3\n",
        "return '\ud800'",
        "return '\0'",
        "import the_script, project, __builtins__",
    ],
)
async def test_what_no_checker_likes_ends_in_an_answer(checker: TyChecker, source: str) -> None:
    await found(checker, source)
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]


async def test_bad_stubs_and_odd_names_harm_nothing(checker: TyChecker) -> None:
    stubs = Stubs(main="async def (", modules={"class": "", "ok": "x: int\n"})
    said = await checker.check("import ok\nreturn ok.x + ''", stubs=stubs, inputs={"a b": "int"})
    assert [one.code for one in said] == ["unsupported-operator"]
