"""A loop of one's own: what waits for an approval is named, and goes on once it is answered."""

from pathlib import Path

from lineshaft import Answer, Session, tool

made: list[str] = []


@tool(effect="external")
async def order(article: str) -> str:
    """Order an article."""
    made.append(article)
    return f"ordered {article}"


async def test_what_waits_is_named_and_goes_on(tmp_path: Path) -> None:
    made.clear()
    store = tmp_path / "runs.db"
    async with Session([order], workspace=tmp_path, store=store) as session:
        script = await session.handle("run_script", {"code": "return await order(article='tea')"})
        direct = await session.handle("order", {"article": "ink"})
        for done, article in ((script, "tea"), (direct, "ink")):
            assert [(c.tool, dict(c.arguments)) for c in done.pending] == [
                ("order", {"article": article})
            ]
            assert not done.is_error
            assert made.count(article) == 0
            answers = {call.id: Answer(allow=True) for call in done.pending}
            result = await session.resume(done.run_id, answers)
            assert f"ordered {article}" in session.told(result).text
            assert made.count(article) == 1
        over = await session.handle("run_script", {"code": "return 1"})
    assert (over.pending, bool(over.run_id)) == ((), True)
