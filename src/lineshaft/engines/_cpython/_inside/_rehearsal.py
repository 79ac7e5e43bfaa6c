"""What a child does before it has a script: some of what scripts do.

A forked process shares its memory with its parent until it touches it, which costs some
microseconds a page; so what most scripts touch is touched ahead.
"""

REHEARSAL = """
import json
def plain(a, b=1): return tool(a)["b"]
async def more(*args): return [await tool(x) for x in args if x]
try:
    value = {"a": await sleep(0), **{}}
except KeyError as e:
    print(f"{e.code}", e)
for x in range(3): pass
return value
"""
"""A script."""

REHEARSALS = {
    "numpy": """
a = module.arange(12, dtype=float).reshape(3, 4)
(a * 2 + 1).sum(axis=0).tolist()
""",
    "pandas": """
f = module.DataFrame({"a": [1, 2, 1], "b": [1.5, 2.5, 3.5]})
f.groupby("a")["b"].sum()
""",
}
"""What scripts do with packages, each as `module`."""
