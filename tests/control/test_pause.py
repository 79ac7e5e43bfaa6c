"""A run that waits for answers: in another process, in parts, after a crash, without repetition."""

import json
import os
import signal

from control.world import World

YES = {"allow": True}
NO = {"allow": False, "reason": "not this one"}

FOURTEEN = """
async def one(i):
    try:
        return await poke(what=f"{i}")
    except ToolError as error:
        return [error.code, str(error)]
return await asyncio.gather(*[one(i) for i in range(14)])
"""


def refused(value: str | list[str]) -> bool:
    return isinstance(value, list) and value[0] == "E_DENIED" and "not this one" in value[1]


def test_fourteen_calls_wait_at_once_and_are_answered_elsewhere(world: World) -> None:
    paused = world.run(FOURTEEN)
    assert (paused["status"], len(paused["pending"])) == ("paused", 14)
    assert world.deeds == []
    ids = [call["id"] for call in paused["pending"]]
    done = world.resume(paused, answers={i: YES if n < 10 else NO for n, i in enumerate(ids)})
    assert done["status"] == "success"
    value = done["value"]
    assert value[:10] == [f"poked {n}" for n in range(10)]
    assert all(refused(each) for each in value[10:])
    assert sorted(world.deeds) == sorted(f"poke {n}" for n in range(10))
    assert [call["status"] for call in done["calls"]] == ["done"] * 10 + ["refused"] * 4


def test_answers_may_come_in_parts(world: World) -> None:
    paused = world.run(FOURTEEN)
    ids = [call["id"] for call in paused["pending"]]
    again = world.resume(paused, answers=dict.fromkeys(ids[:9], YES))
    assert (again["status"], [c["id"] for c in again["pending"]]) == ("paused", ids[9:])
    assert sorted(world.deeds) == sorted(f"poke {n}" for n in range(9))
    done = world.resume(again, answers={ids[9]: YES, "*": NO})
    assert done["status"] == "success"
    assert [refused(each) for each in done["value"]] == [False] * 10 + [True] * 4
    assert sorted(world.deeds) == sorted(f"poke {n}" for n in range(10))


def test_a_pause_outlives_a_killed_host(world: World) -> None:
    host = world.start("run", script=FOURTEEN, linger=True)
    assert host.stdout is not None
    paused = json.loads(host.stdout.readline())
    os.kill(host.pid, signal.SIGKILL)
    host.wait()
    done = world.resume(paused, answers={"*": YES})
    assert done["value"] == [f"poked {n}" for n in range(14)]
    assert sorted(world.deeds) == sorted(f"poke {n}" for n in range(14))


def test_what_came_before_a_pause_stays_in_the_result(world: World) -> None:
    script = """
await write_file("a.txt", "1")
text = (await read_file("a.txt"))["content"]
print(text)
await note(what=text)
await poke(what="2")
return await poke(what="3")
"""
    paused = world.run(script)
    again = world.resume(paused, answers={paused["pending"][0]["id"]: YES})
    done = world.resume(again, answers={"*": YES})
    assert (done["status"], done["stdout"]) == ("success", "1\n")
    tools = [call["tool"] for call in done["calls"]]
    assert tools == ["write_file", "read_file", "note", "poke", "poke"]
    for part in (paused, again):
        assert done["calls"][: len(part["calls"]) - 1] == part["calls"][:-1]
        assert part["duration_ms"] < done["duration_ms"]
        assert part["usage"]["calls"].items() <= done["usage"]["calls"].items() | {("poke", 1)}
    counted = {"write_file": 1, "read_file": 1, "note": 1, "poke": 2}
    assert done["usage"]["calls"] == counted
    assert [path["path"] for path in done["changes"]] == ["a.txt"]
