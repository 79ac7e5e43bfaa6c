"""A script that is run again is not read again; what it meets may have changed all the same."""

from collections.abc import Mapping

from lineshaft import Limits, Session, tool
from lineshaft.values import Diagnostic, PythonTarget, Stubs


@tool(effect="read")
async def half(n: int) -> float:
    """Return half of a number."""
    return n / 2


SCRIPT = "return await half(n=given)"


async def test_other_types_of_inputs_are_checked_anew() -> None:
    async with Session([half], store=False) as session:
        assert (await session.run(SCRIPT, inputs={"given": 4})).value == 2.0
        wrong = await session.run(SCRIPT, inputs={"given": "four"})
        assert wrong.error is not None
        assert wrong.error.code == "E_CHECK"
        assert (await session.run(SCRIPT, inputs={"given": 6})).value == 3.0


async def test_an_input_that_is_left_out_is_missed() -> None:
    async with Session([half], store=False) as session:
        await session.run(SCRIPT, inputs={"given": 4})
        missed = await session.run(SCRIPT)
        assert missed.error is not None
        assert missed.error.code == "E_CHECK"
        assert "given" in missed.error.message


async def test_each_run_tells_its_own_findings_and_calls() -> None:
    script = "x = half(n=4)\nreturn x"
    async with Session([half], store=False) as session:
        first, second = [await session.run(script) for _ in range(2)]
    assert first.findings == second.findings
    assert [c.tool for c in second.calls] == ["half"]
    assert first.value == second.value == 2.0


async def test_limits_are_those_of_each_run() -> None:
    script = "for n in range(3):\n    await half(n=n)\nreturn 'done'"
    async with Session([half], store=False) as session:
        assert (await session.run(script)).value == "done"
        few = await session.run(script, limits=Limits(calls=2))
        assert few.error is not None
        assert few.error.code == "E_CALL_LIMIT"


class Failing:
    """A checker that fails once."""

    def __init__(self) -> None:
        self.asked = 0

    async def check(
        self,
        source: str,
        *,
        stubs: Stubs,
        inputs: Mapping[str, str],
        target: PythonTarget | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Fail at first, then find nothing."""
        del source, stubs, inputs, target
        self.asked += 1
        if self.asked > 1:
            return ()
        return (Diagnostic(code="checker-failed", message="the worker died", line=1, column=1),)

    async def aclose(self) -> None:
        """Nothing is open."""


async def test_a_check_that_failed_is_made_again_and_one_that_held_is_not() -> None:
    failing = Failing()
    async with Session([half], store=False) as session:
        session._runner.engines.checker = failing  # pyright: ignore[reportPrivateUsage]  the seam that the contract test runs against the real checker
        said = [
            [f.code for f in (await session.run("return await half(n=4)")).findings]
            for _ in range(3)
        ]
    assert said == [["checker-failed"], [], []]
    assert failing.asked == 2
