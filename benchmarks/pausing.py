"""A pause and its end: from an ask to a stored run, and from an answer to the call."""

import statistics
import tempfile
import time
from pathlib import Path

from lineshaft import Answer, Policy, Session, tool

SCRIPT = "a = [i for i in range(100)]\nn = await poke()\nreturn n + len(a)"
ASK = Policy.from_dict({"mode": "open", "rules": [{"id": "ask", "tool": "poke", "verdict": "ask"}]})


async def ours(session: Session, seen: dict[str, float]) -> tuple[float, float]:
    """Return the milliseconds from an ask to a stored run, and from an answer to the call."""
    paused = await session.run(SCRIPT)
    took = time.perf_counter() - seen["asked"]
    start = time.perf_counter()
    done = await session.resume(paused.run_id, {"*": Answer(allow=True)})
    done.raise_for_status()
    return took * 1000, (seen["called"] - start) * 1000


async def figures(turns: int) -> list[tuple[str, float]]:
    """Return rows: what, and its milliseconds."""
    seen: dict[str, float] = {}

    @tool(effect="external")
    async def poke() -> int:
        """Poke."""
        seen["called"] = time.perf_counter()
        return 1

    def note(event: object) -> None:
        if getattr(event, "kind", "") == "verdict":
            seen["asked"] = time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        async with Session(
            [poke], workspace=folder, policy=ASK, engine="wasm", store=store, sinks=[note]
        ) as session:
            times = [await ours(session, seen) for _ in range(turns + 2)]
    pause, resume = (statistics.median(row[i] for row in times[2:]) for i in range(2))
    return [("from an ask to a stored run, ms", pause), ("from an answer to the call, ms", resume)]
