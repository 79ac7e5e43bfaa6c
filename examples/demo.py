"""One script over the standard library of this Python, then the same with a write: refused.

Needs no network, no key and no model: the script is one that a model would write.
"""

import asyncio
import sysconfig
from pathlib import Path

from lineshaft import Limits, Policy, RunResult, Session, kit

LIBRARY = sysconfig.get_paths()["stdlib"]
NOTES = (Path(__file__).parent / "scripts" / "notes.py").read_text(encoding="utf-8")
WITH_A_WRITE = f'await write_file(path="notes.txt", content="found by lineshaft")\n{NOTES}'


def describe(result: RunResult) -> str:
    """Return what a person wants to know about a run."""
    usage = result.usage
    calls = ", ".join(f"{count:,} {name}" for name, count in sorted(usage.calls.items()))
    return (
        f"{result.status} in {result.duration_ms / 1000:.1f} s: {sum(usage.calls.values()):,} calls"
        f" ({calls})\n{usage.bytes_in:,} bytes passed through the script;"
        f" {usage.bytes_out:,} bytes would return to a model"
    )


async def main() -> None:
    files = kit.tools("find_files", "read_file", "write_file")
    limits = Limits(seconds=120, calls=20_000)
    policy = Policy(mode="read")
    async with Session(files, workspace=LIBRARY, policy=policy, limits=limits) as session:
        print("1. One script over the standard library of this Python, in mode 'read':\n")
        result = (await session.run(NOTES, name="notes.py")).raise_for_status()
        print(result.value)
        print(describe(result))

        print("\n2. The same script with one write added in its first line:\n")
        refused = await session.run(WITH_A_WRITE, name="notes_with_a_write.py")
        if refused.error is None:
            raise SystemExit("the write was not refused")
        print(f"{refused.error.code}, line {refused.error.line}: {refused.error.message}")
        for call in refused.calls:
            print(f"{call.tool} {dict(call.arguments)}: {call.status} by {call.rule}")


if __name__ == "__main__":
    asyncio.run(main())
