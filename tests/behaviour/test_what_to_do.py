"""Errors say what to do: paused runs, unknown keys, wrong arguments, values of packages."""

from typing import TypedDict

import pytest

from lineshaft import Session, Tool, run_sync, tool
from support import Make

pytestmark = pytest.mark.behaviour("E25")


class Item(TypedDict):
    """A thing in stock."""

    name: str
    size: int


class Stock(TypedDict):
    """What a shop has."""

    items: list[Item]
    total: int


@tool(effect="read")
def stock(shop: str, limit: int = 3) -> Stock:
    """Return what a shop has."""
    del shop, limit
    return {"items": [{"name": "a", "size": 1}], "total": 1}


def silent() -> Tool:
    """Return a tool that does not say what it touches."""

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return Tool.from_function(add)


SAID = "`add` declares no effect, so it counts as `external` and asks: say `@tool(effect=...)`"


def test_a_run_that_waits_says_what_for_and_what_to_do(tmp_path: object) -> None:
    result = run_sync("return await add(a=1, b=2)", tools=[silent()], workspace=str(tmp_path))
    assert result.status == "paused"
    assert result.error is not None
    assert result.error.code == "E_PAUSED"
    assert result.error.message == "1 call waits for an approval: add (rule 'mode:auto')"
    assert result.error.hint.startswith(f"{SAID}; or give the session an approver")
    assert f"lineshaft resume {result.run_id}" in result.error.hint


async def test_many_calls_that_wait_are_told_in_short(make: Make) -> None:
    script = """
await asyncio.gather(*[globals()[f"t{n}"]() for n in range(8)])
"""

    def nothing() -> None:
        """Do nothing."""

    tools = [Tool.from_function(nothing, name=f"t{n}", effect="exec") for n in range(8)]
    async with make(*tools) as session:
        result = await session.run(script)
    assert result.error is not None
    assert result.error.message.startswith("8 calls wait for an approval: t0 (rule 'mode:auto'), ")
    assert result.error.message.endswith("t4 (rule 'mode:auto') and 3 more")
    assert "declares no effect" not in result.error.hint


async def test_where_a_run_cannot_wait_the_missing_effect_is_told_too(make: Make) -> None:
    async with make(silent(), store=False) as session:
        result = await session.run("return await add(a=1, b=2)")
    assert result.error is not None
    assert (result.error.code, result.error.hint) == ("E_DENIED", SAID)


async def test_a_model_is_told_of_a_waiting_run_as_before(make: Make) -> None:
    async with make(silent()) as session:
        handled = await session.handle("run_script", {"code": "return await add(a=1, b=2)"})
    assert not handled.is_error
    assert "waits for a person to approve" in handled.text
    assert "@tool" not in handled.text


@pytest.mark.parametrize(
    ("script", "hint"),
    [
        ("r['itens']", "there: `items`, `total`"),
        ("[i['nme'] for i in r['items']]", "there: `name`, `size`"),
        ("json_parse(json.dumps(r))['colour']", "results of `stock` have `items`, `total`; "),
        (
            "json_parse(json.dumps(r))['items'][0]['colour']",
            "`items` in results of `stock` has `name`, `size`; ",
        ),
        (
            "[i['siz'] for i in json_parse(json.dumps(r))['items']]",
            "`items` in results of `stock` has `name`, `size`; ",
        ),
    ],
)
async def test_an_unknown_key_names_the_keys_of_its_level(
    make: Make, script: str, hint: str
) -> None:
    async with make(stock) as session:
        result = await session.run(f'r = await stock(shop="x")\nreturn {script}')
    assert result.error is not None
    assert result.error.hint.startswith(hint)


async def test_a_wrong_argument_shows_the_signature_once(make: Make) -> None:
    async with make(stock) as session:
        handled = await session.handle(
            "run_script", {"code": 'return await stock(shp="x", limt=2)'}
        )
    assert handled.text.count("stock(shop: str, limit: int = 3)") == 1
    assert "no parameter `shp`" in handled.text
    assert "no parameter `limt`" in handled.text


NUMBER = """
class int64:
    pass
return {"n": int64()}
"""


async def test_a_number_of_a_package_is_told_how_it_becomes_one(make: Make) -> None:
    async with make() as session:
        result = await session.run(NUMBER)
    assert result.error is not None
    assert "int(x)" in result.error.hint


async def test_a_module_of_the_workspace_names_its_setting_and_python_run(make: Make) -> None:
    async with make() as session, Session([]) as bare:
        result = await session.run("import helpers")
        without = await bare.run("import helpers")
    assert result.error is not None
    assert without.error is not None
    assert "workspace_imports" in result.error.hint
    assert "python_run" in result.error.hint
    assert "python_run" not in without.error.hint


async def test_what_a_guard_refuses_names_the_file_of_each_finding(make: Make) -> None:
    async with make() as session:
        result = await session.run(
            'await write_file("a.py", "def (")\nawait write_file("b.json", "{")'
        )
    assert result.error is not None
    assert result.error.code == "E_GUARD"
    assert "a.py:1" in result.error.message
    assert "b.json:1" in result.error.message
