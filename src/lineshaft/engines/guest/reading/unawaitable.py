"""The text to write instead of a function that calls a tool and cannot be made async as it is."""

import ast

from .scopes import Outline

_CACHES = frozenset({"cache", "lru_cache"})
_PROPERTIES = frozenset({"property", "cached_property"})
_WAITING_METHODS = {
    "__enter__": "`async def __aenter__(self)`, and use the object with `async with`",
    "__exit__": "`async def __aexit__(self, *error)`, and use the object with `async with`",
    "__iter__": "`async def __aiter__(self)` with `yield`, and go over the object with `async for`",
    "__next__": "an `async def` with `yield` instead, and go over its call with `async for`",
}
"""Special methods, and what may wait instead of them."""


def instead_of(function: ast.FunctionDef, outline: Outline, *, called: bool) -> str:
    """Return what to write instead of a function with a call that has to be awaited.

    Args:
        function: The function.
        outline: Of its script.
        called: Whether the script calls it, and does not only pass it on.
    """
    name = function.name
    above = outline.above(function)
    if isinstance(above, ast.ClassDef) and name.startswith("__") and name != "__call__":
        if name in _WAITING_METHODS:
            return f"write {_WAITING_METHODS[name]}"
        if name in ("__init__", "__new__", "__post_init__"):
            return f"make the call before, and give its result to `{above.name}(...)`"
        return f"make the call in an `async def` of another name; `{name}` cannot wait"
    decorators = {_last_name(each) for each in function.decorator_list}
    if "contextmanager" in decorators:
        return f"write `@asynccontextmanager` and `async def {name}(...)`, and `async with` for it"
    if decorators & _PROPERTIES:
        return (
            f"make it a method: without the decorator, `async def {name}(self)`,"
            f" and `await x.{name}()` for each use"
        )
    if outline.inner[function].yields:
        return (
            f"write `async def {name}(...)` with `await` before the call,"
            f" and `async for` over each call of it"
        )
    if decorators & _CACHES:
        return (
            f"write `async def {name}(...)` without the decorator,"
            f" and keep its results in a dict that it looks in first"
        )
    if not called:
        return (
            f"write `async def {name}(...)` with `await` before the call, and have its results"
            f" before they are needed: `await asyncio.gather(*[{name}(x) for x in items])`"
        )
    return f"write `async def {name}(...)` and put `await` before each call of it"


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
