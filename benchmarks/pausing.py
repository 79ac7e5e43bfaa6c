"""A pause and its end beside the bare engine's own dump and load, turn by turn, in one process."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import cast

from pydantic_monty import FunctionSnapshot, Monty

from lineshaft import Answer, Policy, Session, tool

SCRIPT = "a = [i for i in range(100)]\nn = await poke()\nreturn n + len(a)"
BARE = "a = [i for i in range(100)]\nn = poke()\nn + len(a)"
ASK = Policy.from_dict({"mode": "open", "rules": [{"id": "ask", "tool": "poke", "verdict": "ask"}]})


def bare(pool: Monty) -> tuple[float, float]:
    """Return the milliseconds of a dump, and of a load up to the end of the call."""
    with pool.checkout() as session:
        snapshot = cast("FunctionSnapshot", session.feed_start(BARE))
        start = time.perf_counter()
        dump = snapshot.dump()
        dumped = time.perf_counter()
    with pool.checkout() as session:
        begin = time.perf_counter()
        loaded_at = cast("FunctionSnapshot", session.load_snapshot(dump))
        loaded_at.resume({"return_value": 1})
        loaded = time.perf_counter()
    return (dumped - start) * 1000, (loaded - begin) * 1000


async def ours(session: Session, seen: dict[str, float]) -> tuple[float, float]:
    """Return the milliseconds from an ask to a stored run, and from an answer to the call."""
    paused = await session.run(SCRIPT)
    took = time.perf_counter() - seen["asked"]
    start = time.perf_counter()
    done = await session.resume(paused.run_id, {"*": Answer(allow=True)})
    done.raise_for_status()
    return took * 1000, (seen["called"] - start) * 1000


async def figures(turns: int) -> list[tuple[str, float, float]]:
    """Return rows: what, the bare engine's milliseconds, ours."""
    seen: dict[str, float] = {}

    @tool(effect="external")
    async def poke() -> int:
        """Poke."""
        seen["called"] = time.perf_counter()
        return 1

    def note(event: object) -> None:
        if getattr(event, "kind", "") == "verdict":
            seen["asked"] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder, Monty(max_processes=2) as pool:
        store = Path(folder) / "runs.db"
        async with Session(
            [poke], workspace=folder, policy=ASK, engine="monty", store=store, sinks=[note]
        ) as session:
            times = [(*bare(pool), *await ours(session, seen)) for _ in range(turns + 2)]
    kept = times[2:]
    dump, load, pause, resume = (statistics.median(row[i] for row in kept) for i in range(4))
    return [
        ("from an ask to a stored run, ms", dump, pause),
        ("from an answer to the call, ms", load, resume),
    ]
