"""What to write instead of modules that are not there, and of names that they lack."""

_NO_NETWORK = "a script has no network: call a tool"

_MODULES = {
    "aiohttp": _NO_NETWORK,
    "httpx": _NO_NETWORK,
    "multiprocessing": "write `await asyncio.gather(...)`",
    "numpy": "use lists, `sum`, `min`, `max`, `math` and `statistics`",
    "pandas": "use lists of dicts, `sorted` and `table(rows)`",
    "requests": _NO_NETWORK,
    "ssl": _NO_NETWORK,
    "urllib3": _NO_NETWORK,
}

_MEMBERS = {
    "datetime.fromisoformat": "write `datetime.datetime.fromisoformat(...)`: `datetime` is the "
    "module",
    "datetime.now": "write `datetime.datetime.now()`: `datetime` is the module",
    "datetime.strptime": "write `datetime.datetime.strptime(...)`: `datetime` is the module",
    "datetime.today": "write `datetime.datetime.today()`: `datetime` is the module",
}

_NO_PROCESSES = "a script has no processes: a tool that runs commands is needed"
_PROCESSES = ("exec", "fork", "kill", "posix_spawn", "setsid", "spawn", "wait")
"""How the names of functions of `os` begin that are about processes."""


def module_hint(module: str, name: str = "") -> str:
    """Return what to write instead of a module, or of a name in it.

    Args:
        module: As imported, such as `urllib.parse`.
        name: What the module lacks; empty where the module itself is missing.
    """
    if module == "tools":
        return f"`tools` has no `{name}`; a namespace is a module of its own: `{name}.tool(...)`"
    if module == "os" and name.startswith(_PROCESSES):
        return _NO_PROCESSES
    if name:
        return _MEMBERS.get(f"{module}.{name}", "")
    top = module.partition(".")[0]
    known = _MODULES.get(top, "write it in plain Python, or let a tool do it")
    return f"`{top}` is not here: {known}"
