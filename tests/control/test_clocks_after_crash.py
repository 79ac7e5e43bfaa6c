"""A script that reads clocks and random numbers goes on after a crash as it had begun."""

import signal

from control.test_after_crash import killed_while
from control.world import World

CLOCKS = """
import random, time
told = []
for n in range(3):
    what = f"{time.time_ns()} {time.monotonic_ns()} {random.random()}"
    told.append(what)
    await note(what=what)
    await write_file(path=f"{n}.txt", content=what)
await asyncio.sleep(0.01)
told.append(str(time.time_ns()))
await note(what=told[-1])
await asyncio.gather(look(what=str(time.monotonic_ns())), hang_once(what="x"))
return told
"""


def test_a_script_that_reads_clocks_goes_on_as_it_had_begun(world: World) -> None:
    run_id = killed_while(world, CLOCKS, "hang_once x")
    before = list(world.deeds)
    done = world.do("resume", run_id=run_id)
    assert (done["status"], done.get("error")) == ("success", None)
    looked = [deed for deed in world.deeds if deed.startswith("look")]
    assert len(set(looked)) == 1
    assert [deed for deed in world.deeds if deed not in looked] == [
        *(deed for deed in before if deed not in looked),
        "hang_once x",
    ]
    assert [f"note {what}" for what in done["value"]] == [
        deed for deed in before if deed.startswith("note")
    ]
    assert (world.workspace / "2.txt").read_text() == done["value"][2]


def test_it_may_be_killed_again_and_again(world: World) -> None:
    run_id = killed_while(world, CLOCKS, "hang_once x")
    host = world.start("resume", run_id=run_id, dies_after="hang_once x")
    assert host.wait(60) == -signal.SIGKILL
    before = [deed for deed in world.deeds if not deed.startswith("look")]
    done = world.do("resume", run_id=run_id, repeat=["*"])
    assert (done["status"], done.get("error")) == ("success", None)
    assert [deed for deed in world.deeds if not deed.startswith("look")] == before
    assert f"note {done['value'][-1]}" in before


GIVEN_UP = """
import time
try:
    await asyncio.wait_for(hang(what="given up"), 0.05)
except TimeoutError:
    pass
what = str(time.time_ns())
await note(what=what)
await hang_once(what="x")
return what
"""


def test_a_call_that_the_script_gave_up_is_given_up_again(world: World) -> None:
    run_id = killed_while(world, GIVEN_UP, "hang_once x")
    before = list(world.deeds)
    done = world.do("resume", run_id=run_id)
    assert (done["status"], done.get("error")) == ("success", None)
    assert world.deeds == [*before, "hang_once x"]
    assert f"note {done['value']}" in before
