"""What a script sees of the library's objects, to which nothing counts references."""

from textwrap import dedent

from engines.play import Play
from lineshaft.values import Returned


async def test_objects_of_the_library_are_immortal_and_those_of_a_script_are_not(
    play: Play,
) -> None:
    source = """
import asyncio, json, sys
class Own: pass
library = (json.dumps, json.dumps.__code__, asyncio.Task, sys.modules, json.JSONEncoder.encode)
return [all(map(sys._is_immortal, library)), sys._is_immortal(Own), sys.getrefcount(Own()) < 9]
"""
    assert await play(dedent(source)) == Returned(value=[True, False, True])


async def test_a_collection_of_everything_harms_nothing(play: Play) -> None:
    source = """
import gc, json, re, weakref
class Own: pass
gone = []
def make():
    one, other = Own(), Own()
    one.other, other.other = other, one
    weakref.finalize(one, gone.append, "one")
    one.library = json
make()
gc.unfreeze()
for _ in range(3):
    gc.collect()
await give(1)
return [gone, json.loads("[1]"), re.sub("a", "b", "aa"), (await asyncio.gather(give(2)))]
"""
    assert await play(dedent(source)) == Returned(value=[["one"], [1], "bb", [2]])


async def test_what_a_script_takes_out_of_the_library_is_gone_and_nothing_else(play: Play) -> None:
    source = """
import collections, json, sys
old = json.dumps
json.dumps = lambda value: "mine"
del old, collections.Counter
first = json.dumps(1)
for name in [n for n in sys.modules if n.startswith("email")]:
    del sys.modules[name]
del json.dumps
return [first, hasattr(json, "dumps"), hasattr(collections, "Counter"), json.loads("2")]
"""
    assert await play(dedent(source)) == Returned(value=["mine", False, False, 2])
