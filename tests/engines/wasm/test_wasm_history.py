"""Histories of instances: what a script sees of itself is the same in another process."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from engines.paused import Keeper
from lineshaft.engines.wasm import WasmEngine
from lineshaft.values import Suspended

HISTORIES = [
    "print(id(object()), id([]))",
    "print(object(), lambda: 0)",
    "print({'a', 'b', 'c', 'dd', 'ee'})",
    "print({object() for _ in range(5)})",
    "print(hash('x'), hash(b'x'), hash((1, 'a')))",
    "import random\nprint(random.random(), random.sample(range(99), 5))",
    "import random\nprint(random.Random().random(), random.SystemRandom().random())",
    "import uuid\nprint(uuid.uuid4(), uuid.uuid1())",
    "import secrets\nprint(secrets.token_hex(), secrets.choice('abc'))",
    "import os\nprint(os.urandom(8))",
    "import time\nprint(time.time(), time.monotonic(), time.perf_counter_ns())",
    "import datetime\nprint(datetime.datetime.now(), datetime.date.today())",
    "class A: pass\nprint(A(), A, A.__init__)",
    "async def f(): pass\nc = f()\nprint(c)\nawait c",
    "print(asyncio.current_task() is not None, asyncio.all_tasks())",
    "import gc, weakref\nclass A: pass\na = A()\nr = weakref.ref(a)\nprint(r)\ndel a\nprint(r)",
    "import tempfile\nprint(next(tempfile._get_candidate_names()))",
    "print([hash(x) for x in ('a', 'b')], frozenset('abcdef'))",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(repr(e.__traceback__))",
    "print(await asyncio.gather(*[give(n) for n in range(5)]), id(give), give)",
]
"""What scripts print of their own history: twenty of them."""


_TESTS = str(Path(__file__).parents[2])

RESUME = """
import asyncio, sys
from pathlib import Path
from engines.paused import Keeper, Kept
from lineshaft.engines.wasm import WasmEngine
from lineshaft.values import Returned

async def main():
    engine = WasmEngine()
    for path in sorted(Path(sys.argv[1]).glob("*.kept")):
        keeper = Keeper(engine, Kept.read(path))
        outcome = await keeper.part(path.with_suffix(".py").read_text(), {"*": True})
        assert outcome == Returned(value="end"), outcome
        path.with_suffix(".out").write_text(keeper.printed)
    await engine.aclose()
asyncio.run(main())
"""


async def test_a_script_that_goes_on_in_another_process_finds_its_history_there(
    engine: WasmEngine, tmp_path: Path
) -> None:
    before: list[str] = []
    for number, text in enumerate(HISTORIES):
        source = f"{text}\nawait ask(1)\n{text}\nreturn 'end'"
        keeper = Keeper(engine)
        outcome = await keeper.part(source)
        assert outcome == Suspended(), (text, outcome)
        assert keeper.printed, text
        before.append(keeper.printed)
        keeper.kept.write(tmp_path / f"{number:02}.kept")
        (tmp_path / f"{number:02}.py").write_text(source)
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", RESUME, tmp_path],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([_TESTS, *sys.path]),
        },
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0
    for number, printed in enumerate(before):
        again = (tmp_path / f"{number:02}.out").read_text()
        assert again.startswith(printed), HISTORIES[number]
        assert len(again) > len(printed)
