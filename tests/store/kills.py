"""A program: kill processes between a call and its end, and have two resume one run at once.

    python kills.py FOLDER KILLS RACES SEED

prints one JSON line a round: what it was, and what was wrong afterwards, if anything.
"""

import asyncio
import json
import random
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from lineshaft.store import Store
from lineshaft.values import Value
from store.samples import KEY, begin, host, pause, resume, run

LONGEST_SECONDS = 0.01

ACTS = """
name = sys.stdin.readline().strip()
record = sink(store, "/w")
record(event(1, "run_started", name, name="s.py"))
state = await begin(store, run(name))
print("begun", flush=True)
for n in range(100_000):
    record(event(n + 2, "progress", name, text="x" * 50))
    await state.started(call(n))
    print(f"started {n}", flush=True)
    await state.finished(call(n), Value(n))
    print(f"finished {n}", flush=True)
"""

RACES = """
from lineshaft.errors import RunBusy
for name in sys.stdin:
    try:
        saved, state = await resume(store, name.strip())
        await state.started(call(1))
        print("won", flush=True)
    except RunBusy:
        print("busy", flush=True)
"""


async def killed(path: Path, number: int, chance: random.Random) -> list[str]:
    """Kill a process that makes calls; return what is wrong with what it leaves."""
    name = f"k{number}"
    with host(ACTS, path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(chance.randint(1, 12))]
        await asyncio.sleep(chance.random() * LONGEST_SECONDS)
        process.send_signal(signal.SIGKILL)
        told = [line.split() for line in (*lines, *process.stdout.read().splitlines())]
    begun = {int(line[1]) for line in told if line[0] == "started"}
    ended = {int(line[1]) for line in told if line[0] == "finished"}
    async with Store(path, key=KEY) as store:
        saved, state = await resume(store, name)
        finished = [int(each.call.id[1:]) for each in saved.finished]
        unknown = {int(each.id[1:]) for each in saved.unknown}
        seqs = [each.seq for each in await store.events(name)]
        await state.over(replayable=False)
    wrong = {
        "an end is lost": not ended <= set(finished),
        "a start is lost": not begun <= set(finished) | unknown,
        "a call ended twice": len(finished) != len(set(finished)),
        "an end is another's": any(e.done != Value(int(e.call.id[1:])) for e in saved.finished),
        "more than one call is open": len(unknown) > 1,
        "the events have gaps": seqs != list(range(1, len(seqs) + 1)),
    }
    return [what for what, is_so in wrong.items() if is_so]


async def race(path: Path, rounds: int) -> list[list[str]]:
    """Have two processes resume each of some runs at once; return what is wrong of each."""
    names = [f"q{number}" for number in range(rounds)]
    async with Store(path, key=KEY) as store:
        for name in names:
            await (await begin(store, run(name))).paused(pause("c1", view=b"x"))
    found: list[list[str]] = []
    with ExitStack() as stack:
        hosts = [stack.enter_context(host(RACES, path)) for _ in range(2)]
        for name in names:
            for each in hosts:
                assert each.stdin is not None
                each.stdin.write(f"{name}\n")
                each.stdin.flush()
            said = sorted(each.stdout.readline().strip() for each in hosts if each.stdout)
            found.append([] if said == ["busy", "won"] else [f"they said {said}"])
        for each in hosts:
            each.communicate(timeout=60)
    async with Store(path, key=KEY) as store:
        for number, name in enumerate(names):
            unknown = [each.id for each in (await store.load(name)).unknown]
            if unknown != ["c1"]:
                found[number].append(f"what started is {unknown}")
    return found


async def main() -> None:
    """Make all rounds."""
    folder, kills, races, seed = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    chance = random.Random(seed)  # noqa: S311  no secret
    for number in range(kills):
        wrong = await killed(folder / "kills.db", number, chance)
        print(json.dumps({"round": "kill", "wrong": wrong}), flush=True)  # noqa: T201  a program
    for wrong in await race(folder / "races.db", races):
        print(json.dumps({"round": "race", "wrong": wrong}), flush=True)  # noqa: T201  a program


if __name__ == "__main__":
    asyncio.run(main())
