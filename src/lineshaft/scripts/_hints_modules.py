"""What to write instead of modules and functions that small engines lack."""

_MODULES = {
    "aiohttp": "a script has no network: call a tool",
    "bisect": "use `sorted` or a loop",
    "concurrent": "write `await asyncio.gather(...)`",
    "contextlib": "write `try` and `finally`, or `try` and `except`",
    "ctypes": "a script has no machine below it",
    "difflib": "compare `text.splitlines()` in a loop",
    "enum": "use text constants",
    "fractions": "use `decimal` or floats",
    "glob": "write `await find_files(pattern=...)`",
    "heapq": "use `sorted(items)[:n]`",
    "html": "use `text.replace('&lt;', '<')` and the like",
    "httpx": "a script has no network: call a tool",
    "io": "use text and `text.splitlines()`",
    "multiprocessing": "write `await asyncio.gather(...)`",
    "numpy": "use lists, `sum`, `min`, `max` and `math`",
    "operator": 'write `lambda x: x["key"]`',
    "pandas": "use lists of dicts, `sorted` and `table(rows)`",
    "requests": "a script has no network: call a tool",
    "shutil": "write `await move_file(...)` or another file tool",
    "socket": "a script has no network: call a tool",
    "statistics": "mean: `sum(xs) / len(xs)`; median: `sorted(xs)[len(xs) // 2]`",
    "string": "write the characters out: `'abcdefghijklmnopqrstuvwxyz'`",
    "struct": "use `int.from_bytes`, or let a tool do it",
    "subprocess": "write `await run_command(command=...)`",
    "tempfile": "write `await write_file(...)`",
    "textwrap": "use `text.splitlines()` and `'\\n'.join(...)`",
    "threading": "write `await asyncio.gather(...)`",
    "traceback": "use `str(error)`",
    "urllib": "a script has no network: call a tool",
    "uuid": "use `hashlib.sha256(text.encode()).hexdigest()[:12]`",
    "yaml": "go through `text.splitlines()`, or let a tool do it",
    "zoneinfo": "use `datetime.timezone(datetime.timedelta(hours=...))`",
}

_MEMBERS = {
    "asyncio.Queue": "collect the results of `await asyncio.gather(*calls)` in a list",
    "asyncio.Semaphore": "for part in batched(items, 10): `await asyncio.gather(*[...])`",
    "asyncio.TaskGroup": "write `results = await asyncio.gather(*calls)`",
    "asyncio.as_completed": "write `for result in await asyncio.gather(*calls)`",
    "asyncio.create_task": "keep the calls in a list, then `await asyncio.gather(*calls)`",
    "asyncio.ensure_future": "keep the calls in a list, then `await asyncio.gather(*calls)`",
    "asyncio.get_event_loop": "a script runs in a loop already: write `await`",
    "asyncio.timeout": "await the call itself: calls have a time-out of their own",
    "asyncio.wait": "write `await asyncio.gather(*calls)`",
    "asyncio.wait_for": "await the call itself: calls have a time-out of their own",
    "collections.OrderedDict": "dicts keep their order: write `{}`",
    "datetime.now": "write `datetime.datetime.now()`: `datetime` is the module",
    "datetime.strptime": "write `datetime.datetime.strptime(...)`: `datetime` is the module",
    "datetime.today": "write `datetime.datetime.today()`: `datetime` is the module",
    "functools.wraps": "leave it out",
}


def module_hint(module: str, name: str = "") -> str:
    """Return what to write instead of a module, or of a name in it.

    Args:
        module: As imported, such as `urllib.parse`.
        name: What the module lacks; empty where the module itself is missing.
    """
    if module == "tools":
        return f"`tools` has no `{name}`; a namespace is a module of its own: `{name}.tool(...)`"
    if name:
        known = _MEMBERS.get(f"{module}.{name}", "")
        return known or f"`{module}` has no `{name}` here; write it in plain Python"
    top = module.partition(".")[0]
    known = _MODULES.get(top, "write it in plain Python, or let a tool do it")
    return f"`{top}` is not here: {known}"
