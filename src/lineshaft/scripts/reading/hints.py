"""One line of advice for the failures that scripts have most often."""

import keyword
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from lineshaft.scripts.reading.recent import Recent
from lineshaft.tools import script_name, signature
from lineshaft.values import LATEST_PYTHON, Raised, Struct, ToolSpec, lazy_pattern


class ScriptFailure(Struct, frozen=True):
    """A failure, and the facts that a hint may use."""

    raised: Raised
    line: str
    """The line of the script that it happened on; of a long one, its beginning."""

    source: str
    specs: Sequence[ToolSpec]
    chosen: str
    """Why the script's engine was chosen."""

    python: str
    """The engine's version of Python."""

    found: re.Match[str]
    """Of the rule's pattern in the message."""


_LONGEST_LINE = 1_000
"""Patterns take time that grows with the square of a line's length; a script may have any line."""

Advice = str | Callable[[ScriptFailure], str]


def hint_for(
    raised: Raised,
    *,
    source: str,
    specs: Sequence[ToolSpec],
    chosen: str = "",
    python: str = LATEST_PYTHON.version,
) -> str:
    """Return one line of advice for a failure of a known kind, or an empty string.

    Args:
        raised: The exception of the script.
        source: The script as written.
        specs: The tools that it may call.
        chosen: The reason for its engine.
        python: The engine's version of Python.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    line = lines[raised.line - 1] if raised.line and raised.line <= len(lines) else ""
    for kinds, pattern, advice in _RULES:
        found = re.search(pattern, raised.message) if raised.kind in kinds else None
        if found:
            line = line.strip()[:_LONGEST_LINE]
            failure = ScriptFailure(raised, line, source, specs, chosen, python, found)
            hint = advice if isinstance(advice, str) else advice(failure)
            if hint:
                return hint
    return ""


def _subscript_of_tools(failure: ScriptFailure) -> str:
    modules = {"tools", *(spec.namespace for spec in failure.specs if spec.namespace)}
    of_tools = any(re.search(rf"\b{re.escape(each)}\[", failure.line) for each in modules)
    return "tools are attributes: write `getattr(tools, name)(...)`" if of_tools else ""


def _syntax(failure: ScriptFailure) -> str:
    return syntax_hint(failure.raised.message, failure.line)


def _module(failure: ScriptFailure) -> str:
    module = failure.found["module"]
    name, names = module.removeprefix("tools."), _BY_SCRIPT_NAME.get(failure.specs)
    tool = name if name in names else _tool_meant(names, name) if name != module else ""
    if tool:
        return f"`{tool}` is a tool: it is there without an import"
    programs = any(spec.name == "python_run" for spec in failure.specs)
    if f"no module {module} " in failure.chosen:
        return f"{failure.chosen}; the bundled Python has none either: docs/scripts.md lists both"
    return module_hint(module, programs=programs)


def _member(failure: ScriptFailure) -> str:
    module, name = failure.found["module"], failure.found["name"]
    names = _BY_SCRIPT_NAME.get(failure.specs)
    inside = [each for each in names if each.rpartition(".")[0] == module]
    meant = _tool_meant(inside, name)
    if not meant and (inside or module == "tools"):
        meant = _tool_meant(names, name)
    if meant:
        return f"did you mean `{meant}`?"
    hint, standard = module_hint(module, name), module.partition(".")[0] in sys.stdlib_module_names
    if hint or not standard or failure.python == LATEST_PYTHON.version:
        return hint
    return (
        f"the engine has Python {failure.python}, and `{name}` may be of a later one: write it "
        f"without, or run the script on the engine `wasm`, which has {LATEST_PYTHON.version}"
    )


def _name(failure: ScriptFailure) -> str:
    """Name the tool, or the namespace, that a script calls by another name."""
    name, names = failure.found["name"], _BY_SCRIPT_NAME.get(failure.specs)
    spaces = {space for each in names if (space := each.rpartition(".")[0])}
    close = get_close_matches(name, spaces, n=1)
    meant = close[0] if close and f"{name}." in failure.line else _tool_meant(names, name)
    return f"did you mean `{meant}`?" if meant else ""


def _tool_meant(names: Collection[str], name: str) -> str:
    """Return the tool that has a name in some namespace, or one much like it."""
    by_end = {each.rpartition(".")[2]: each for each in names}
    close = get_close_matches(name, by_end, n=1, cutoff=0.75)
    return by_end[close[0]] if close else ""


def _key(failure: ScriptFailure) -> str:
    """Name the keys of one level of the results of a tool that the script calls."""
    key = failure.raised.message.strip("'\"")
    wanted = [(spec, level) for spec, level in _results(failure) if key not in level.keys]
    outer = _outer_key(failure.line, key)
    inside = [each for each in wanted if outer and each[1].below == outer]
    close = [each for each in wanted if get_close_matches(key, each[1].keys, n=1)]
    for spec, level in inside or close or wanted[:1]:
        named = ", ".join(f"`{name}`" for name in level.keys)
        where = f"`{level.below}` in results" if level.below else "results"
        have = "has" if level.below else "have"
        hint = "`d.get(key)` gives None for a missing key"
        return f"{where} of `{spec.name}` {have} {named}; {hint}"
    return "look at `list(d)` first, or use `d.get(key)`, which gives None for a missing key"


def _outer_key(line: str, key: str) -> str:
    """Return the key that stands right before another one in a line: `b` in `a["b"][0]["c"]`."""
    for quote in "\"'":
        before, found, _ = line.partition(f"[{quote}{key}{quote}]")
        outer = _SUBSCRIPTS().search(before) if found else None
        if outer is not None:
            return outer["key"]
    return ""


_SUBSCRIPTS = lazy_pattern(r"""\[(["'])(?P<key>[^"'\[\]]+)\1\](?:\[[^"'\[\]]+\])*$""")


class KeyLevel(Struct, frozen=True):
    """The keys of one dict in a result."""

    below: str
    """The key under which it lies; empty for the result itself."""

    keys: tuple[str, ...]


def _results(failure: ScriptFailure) -> Iterator[tuple[ToolSpec, KeyLevel]]:
    """Return the keys in the results of each tool that the script names, the outer ones first."""
    words = set(re.findall(r"\w+", failure.source))
    for name, spec in _BY_SCRIPT_NAME.get(failure.specs).items():
        if name.rpartition(".")[2] in words:
            schema = spec.output_schema or {}
            for level in _levels(schema, _definitions(schema)):
                yield spec, level


def _by_script_name(specs: Sequence[ToolSpec]) -> Mapping[str, ToolSpec]:
    return {script_name(spec.name): spec for spec in specs if spec.scriptable}


_BY_SCRIPT_NAME = Recent(_by_script_name)


def _definitions(schema: Mapping[str, object]) -> dict[object, object]:
    """Return the named parts of a schema, by the references that lead to them."""
    return {
        f"#/{word}/{name}": part
        for word in ("$defs", "definitions")
        if isinstance(parts := schema.get(word), dict)
        for name, part in cast("dict[str, object]", parts).items()
    }


def _levels(
    schema: object, root: Mapping[object, object], below: str = "", depth: int = 0
) -> Iterator[KeyLevel]:
    """Return the dicts that a schema tells of, the outer ones first."""
    if not isinstance(schema, Mapping) or depth > _DEEP:
        return
    named = cast("Mapping[str, object]", schema)
    inner: list[tuple[str, object]] = []
    properties = named.get("properties")
    if isinstance(properties, Mapping):
        parts = cast("Mapping[str, object]", properties)
        yield KeyLevel(below, tuple(parts))
        inner += parts.items()
    inner += ((below, named.get(word)) for word in ("items", "additionalProperties"))
    for branch in ("anyOf", "oneOf", "allOf"):
        several = named.get(branch)
        options = cast("list[object]", several) if isinstance(several, list) else []
        inner += ((below, option) for option in options)
    if (target := named.get("$ref")) in root:
        inner.append((below, root[target]))
    for key, part in inner:
        yield from _levels(part, root, key, depth + 1)


_DEEP = 6


def _attribute(failure: ScriptFailure) -> str:
    kind, name = failure.found["kind"], failure.found["name"]
    if known := _ON_TYPES.get((kind, name)):
        return known
    if kind == "dict":
        texts = _item_or_text(failure, name) if hasattr(str, name) else ""
        return texts or f'results are dicts: write `["{name}"]`, not `.{name}`'
    if kind in ("list", "str") and any(name in level.keys for _, level in _results(failure)):
        return f"this is a {kind}, not one result; look at its first item or at `type(x)`"
    if hasattr(dict, name) or name == "json":
        return {"str": _TEXT, "list": _LIST}.get(kind, "")
    return ""


def _item_or_text(failure: ScriptFailure, method: str) -> str:
    """Say where the text lies in an item of a result that a loop goes over, or in a result."""
    used = re.search(rf"\b(\w+)\.{method}\b", failure.line)
    name = used[1] if used else ""
    if not name or not re.search(rf"\bfor {name} in\b", failure.source):
        return _text_in_results(failure)
    for spec, level in _results(failure):
        if level.below or (spec.output_schema or {}).get("type") == "array":
            keys = ", ".join(f"`{key}`" for key in level.keys)
            where = f"an item of `{level.below}`" if level.below else "an item"
            key = next((key for key in _NAMING_KEYS if key in level.keys), level.keys[0])
            said = f"{where} in results of `{spec.name}` is a dict with the keys {keys}"
            return f'{said}: write `{name}["{key}"]`'
    return _text_in_results(failure)


_NAMING_KEYS = ("path", "name", "title", "text", "content")

_ON_TYPES = {
    ("list", "add"): "a list has `append`",
    ("dict", "append"): "write `d[key] = value`",
    ("set", "append"): "a set has `add`",
    ("str", "decode"): "text from tools is a str already",
    ("dict", "has_key"): "write `key in d`",
}


def _text_in_results(failure: ScriptFailure) -> str:
    """Say where the text lies in the results of a tool that the script calls."""
    for spec, level in _results(failure):
        key = next((key for key in _TEXT_KEYS if key in level.keys), "")
        if key and not level.below:
            return f'`{spec.name}` gives a dict; its text is `["{key}"]`'
    return ""


_TEXT_KEYS = ("content", "text", "stdout", "output", "body")


def _parsed(failure: ScriptFailure) -> str:
    texts = _text_in_results(failure) if failure.found["kind"] == "dict" else ""
    return texts or "this is parsed already: leave out `json.loads`"


def _several(failure: ScriptFailure) -> str:
    return _awaited(failure) or _SEVERAL


def _result(failure: ScriptFailure) -> str:
    return _awaited(failure) or "this is a result already: leave out the `await`"


def _awaited(failure: ScriptFailure) -> str:
    """Say where `await` stands before a part of a result, or before what is no tool's call."""
    for found in _AWAITED().finditer(failure.line):
        name = found["name"]
        if name in _PLAIN_HELPERS:
            return f"`{name}` is no tool: leave out the `await`"
        part = _PART().match(_after_brackets(failure.line[found.end() :]))
        if part and name in _BY_SCRIPT_NAME.get(failure.specs):
            key = "[...]" if part["key"] else f".{part['name']}"
            return f"`await` takes all that follows it: write `(await {name}(...)){key}`"
    return ""


_AWAITED = lazy_pattern(r"\bawait (?:tools\.)?(?P<name>[^\W\d][\w.]*)\(")
_PART = lazy_pattern(r"(?P<key>\[)|\.(?P<name>\w+)")
_PLAIN_HELPERS = frozenset({"batched", "json_parse", "table"})
"""The helpers that are not awaited."""


def _after_brackets(text: str) -> str:
    """Return what stands behind the bracket that closes one before the text; empty: none does."""
    depth = 1
    for found in _BRACKETS().finditer(text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return text[found.end() :]
    return ""


_BRACKETS = lazy_pattern(r"""[()]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
"""Brackets, and the quotes that may hold some."""


def _dumped(failure: ScriptFailure) -> str:
    """Say what to give `json.dumps` instead of a value of the type that the message names."""
    kinds = [f"{article} {failure.found['kind']}" for article in ("a", "an")]
    told = (advice for kind, advice in _INSTEAD if any(re.match(kind, each) for each in kinds))
    return next(told, "")


def _lenient(failure: ScriptFailure) -> str:
    """Name the helper that forgives faults of JSON, which the line may use already."""
    is_used = re.search(r"\bjson_parse\(", failure.line)
    return "" if is_used else "`json_parse(text)` forgives code fences and trailing commas"


def _unpacked(failure: ScriptFailure) -> str:
    """Say how a loop takes keys and values of a tool's dict."""
    tool, items = _looped(failure)
    spec = _BY_SCRIPT_NAME.get(failure.specs).get(tool)
    if spec and (spec.output_schema or {}).get("type") == "object":
        return f"`{tool}` gives a dict: go through `{items}.items()`"
    return "look at one item first: `print(items[0])`"


def _looped(failure: ScriptFailure) -> tuple[str, str]:
    """Return the tool whose whole result a loop by pairs goes through, and how to write that."""
    loop = _PAIRS().search(failure.line)
    if loop is None:
        return "", ""
    name = loop["name"]
    if name:
        bound = rf"(?<![\w.]){name} = await (?:tools\.)?([\w.]+)\("
        bindings = re.findall(bound, failure.source)
        return (bindings[-1] if bindings else ""), name
    tool, rest = loop["tool"], _after_brackets(failure.line[loop.end() :]).lstrip(") ")
    return ("" if _PART().match(rest) else tool), f"(await {tool}(...))"


_PAIRS = lazy_pattern(
    r"\bfor \(?\w+, *\w+\)? in "
    r"(?:(?P<name>[^\W\d]\w*) *(?:[:\])}]|if\b|$)|\(?await (?:tools\.)?(?P<tool>[\w.]+)\()"
)
"""A loop by pairs through a variable, or through what a call gives."""


def _gathered(failure: ScriptFailure) -> str:
    return _SEVERAL if re.search(r"\bgather\(\s*\[", failure.line) else ""


def _awaited_inside(failure: ScriptFailure) -> str:
    """Say which `await` to leave out in what `gather` or a task is given."""
    gather = re.search(r"\bgather\((?P<given>.*)", failure.line)
    given = gather["given"] if gather else ""
    if re.search(r"\bawait\b", given.removesuffix(_after_brackets(given))):
        return "leave out the inner `await`: `asyncio.gather` awaits the calls"
    task = re.search(r"\b(create_task|ensure_future)\(\s*await\b", failure.line)
    return f"leave out the inner `await`: `{task[1]}` takes the call itself" if task else ""


def _starless(failure: ScriptFailure) -> str:
    if inside := _awaited_inside(failure):
        return inside
    return _STAR if re.search(r"\bgather\(\s*[^*\s].*\bfor\b", failure.line) else ""


def _uncalled(failure: ScriptFailure) -> str:
    """Return the call of a function that was awaited without one."""
    found = re.search(r"\bawait ([^\W\d][\w.]*)(?![\w.(\[])", failure.line)
    return f"call it: `await {found[1]}()`" if found else "call it: `await f()`"


def _of_class(failure: ScriptFailure) -> str:
    """Say how to write a name of the module where `datetime` is the class."""
    name = failure.found["name"]
    if name == "datetime":
        return "`datetime` is the class here: write `datetime`, not `datetime.datetime`"
    return f"`datetime` is the class here: `from datetime import {name}`, and write `{name}`"


def _in_a_thread(failure: ScriptFailure) -> str:
    """Say how tools are called that a script hands to a thread or an executor."""
    is_handed = re.search(r"\b(?:to_thread|run_in_executor|submit)\(|\.map\(", failure.line)
    return _NO_THREAD if is_handed else ""


def _unbound(failure: ScriptFailure) -> str:
    """Say how to name the result of a tool, which hides the tool in all of a function."""
    name = failure.found["name"]
    return _other_name(name) if name in _BY_SCRIPT_NAME.get(failure.specs) else ""


def _other_name(tool: str) -> str:
    return f"take another name than the tool's: `{tool}_ = await {tool}(...)`"


def _hidden(failure: ScriptFailure) -> str:
    """Say how to name the result of a tool that a line calls, where that result hides the tool."""
    tools = _BY_SCRIPT_NAME.get(failure.specs)
    for name in re.findall(r"(?<![\w.])([^\W\d]\w*)\(", failure.line):
        bound = rf"(?<![\w.]){name}\b[\w ,]{{0,80}}(?::?=(?!=)|\bin\b)"
        if name in tools and re.search(bound, failure.source):
            return _other_name(name)
    return ""


def _argument(failure: ScriptFailure) -> str:
    """Return the signature of the tool that the message names."""
    spec = _BY_SCRIPT_NAME.get(failure.specs).get(failure.found["name"])
    return signature(spec) if spec else ""


_AWAIT = "a call was not awaited: write `await` before it"
_SEVERAL = "await several calls together: `await asyncio.gather(*[...])`, with the star"
_STAR = "the star is missing: `await asyncio.gather(*(...))`"
_NONE = "this is None: look at what the call returned, or test `if x is None` first"
_TEXT = (
    'this is text, not a dict: if it is JSON, `json_parse(text)["key"]`;'
    " going through a dict gives its keys"
)
_LIST = "this is a list: write `items[0][key]`, or go through it with `for`"
_FAILED = (
    "this is the error of a call that failed: test `isinstance(x, ToolError)` first;"
    " it has `code`, `message`, `tool` and `hint`"
)
_NO_THREAD = (
    "tools need no threads: `await tool(...)`, or"
    " `await asyncio.gather(*[tool(x) for x in items])` for several at once"
)
_KEYS = "make the keys text: `{str(k): v for k, v in d.items()}`"
_METHOD = 'this is a method, not a value: results are dicts, write `["items"]`, not `.items`'
_FILES = "a script has no files or programs of its own: `await read_file(path=...)`"

_ITERABLES = (
    "deque|generator|range|map|filter|zip|enumerate|reversed|islice|chain"
    r"|dict_(?:keys|values|items)|KeysView|ValuesView|ItemsView|\w+_iterator"
)
_INSTEAD = (
    (r"a coroutine$", _AWAIT),
    (r"an? (?:Task|Future|_GatheringFuture)$", "give its result: `await task`"),
    (
        r".*text with half a character",
        '`text.encode("utf-8", "replace").decode()` has `?` for each half of a character',
    ),
    (r"a dict with the key ", _KEYS),
    (r"a (?:date|datetime|time)$", "give it as text: `x.isoformat()`"),
    (r"a timedelta$", "write `x.total_seconds()`, or `str(x)`"),
    (r"a (?:frozen)?set$", "make it a list: `sorted(items)`, or `list(items)`"),
    (rf"an? (?:{_ITERABLES})$", "make it a list: `list(x)`"),
    (r"an async_generator$", "make it a list: `[x async for x in items]`"),
    (r".*\bu?int\d+$", "write `int(x)`; of an array `.tolist()`"),
    (r".*\bfloat\d+$", "write `float(x)`; of an array `.tolist()`"),
    (r".*\b(?:ndarray|Series|Index)$", "write `.tolist()`"),
    (r".*\bDataFrame$", 'write `.to_dict("records")`'),
    (r".*\bDecimal$", "write `float(x)`, or `str(x)`"),
    (r"the float (?:nan|-?inf)$", "JSON has no such number: give None instead, or text"),
    (r"an int of too many digits$", "give it as text: `hex(x)`"),
    (r"(?:a )?bytes$", "give text: `data.decode()`"),
    (r"a (?:bytearray|memoryview)$", "give text: `bytes(data).decode()`"),
    (r"an instance of the dataclass ", "write `dataclasses.asdict(x)`"),
    (r"a member of the enumeration ", "write `x.value`"),
    (r"an instance of the class ", "give a dict of what is wanted of it, such as `vars(x)`"),
    (r"a \w*Path$|an? (?:UUID|Fraction|complex|IPv\w+|ZoneInfo)$", "give it as text: `str(x)`"),
    (r"a Match$", "give its text: `m.group()`"),
    (r"an? (?:function|method|builtin_function_or_method)$", "call it: `f()`"),
)
"""What to give instead of a value that is not JSON, by what it is."""

_TYPES = frozenset({"TypeError", "AttributeError"})
_VALUES = frozenset({"ToolError", "TypeError"})
_IMPORTS = frozenset({"ModuleNotFoundError", "ImportError"})

_RULES: Sequence[tuple[frozenset[str], str, Advice]] = [
    (frozenset({kind} if isinstance(kind, str) else kind), pattern, advice)
    for kind, pattern, advice in (
        (frozenset({"SyntaxError", "IndentationError"}), "", _syntax),
        (
            _TYPES,
            r"'coroutine'|coroutine(?: object| found|\._)|(?:not|type) coroutine|(?<!an )awaitable",
            _AWAIT,
        ),
        (
            "TypeError",
            r"(?:list|tuple|set|generator)'? (?:object )?can't be (?:awaited|used in 'await')",
            _several,
        ),
        (
            "TypeError",
            r"(?:function|method|Tool)'? (?:object )?can't be (?:awaited|used in 'await')",
            _uncalled,
        ),
        (
            frozenset({"TypeError", "RuntimeError"}),
            r"^An asyncio\.Future, a coroutine or an awaitable is required|^Task got bad yield",
            _starless,
        ),
        (
            "TypeError",
            r"'async_generator' object is not (?:iterable|an iterator)",
            "write `async for x in items`; as a list, `[x async for x in items]`",
        ),
        (
            "TypeError",
            r"'async for' requires an object with __aiter__",
            "write `for`, not `async for`: a result is there as a whole",
        ),
        ("NameError", r"name '(?P<name>\w+)' is not defined", _name),
        (
            "UnboundLocalError",
            r"local variable '(?P<name>\w+)'",
            _unbound,
        ),
        (
            "TypeError",
            r"'(?:dict|list|str|int|float|bool|NoneType)' object is not callable",
            _hidden,
        ),
        (
            "TypeError",
            r"object (?:\w+ )?can't be (?:awaited|used in 'await' expression)",
            _result,
        ),
        (
            "RuntimeError",
            r"already awaited coroutine",
            "a call is awaited once: keep its result in a name",
        ),
        (_IMPORTS, r"No module named '(?P<module>[\w.]+)'", _module),
        (_IMPORTS, r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'", _member),
        (
            "AttributeError",
            r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'",
            _member,
        ),
        (
            "TypeError",
            r"JSON object must be str, .*not (?P<kind>dict|list)",
            _parsed,
        ),
        (
            "TypeError",
            r"expected string .*'dict'|must be str.* not dict|'dict' and 'str'|\"dict\"\) to str",
            _text_in_results,
        ),
        ("TypeError", r"unhashable type: 'list'", _gathered),
        ("TypeError", r"unhashable type: |^a coroutine was expected, got ", _awaited_inside),
        ("TypeError", r"string ind(?:ices|ex) must be integers", _TEXT),
        ("TypeError", r"list indices must be integers", _LIST),
        (_TYPES, r"^(?:argument of type )?'ToolError' (?:object )?(?:is not|has no) ", _FAILED),
        ("NotAwaited", "", _in_a_thread),
        ("TypeError", r"'(?:builtin_function_or_)?method' object is not", _METHOD),
        ("TypeError", r"'module' object is not subscriptable", _subscript_of_tools),
        (_TYPES, r"'?NoneType'?", _NONE),
        ("KeyError", "", _key),
        (
            "AttributeError",
            r"'datetime\.datetime' has no attribute '(?P<name>datetime|timedelta|timezone|UTC)'",
            _of_class,
        ),
        ("AttributeError", r"'(?P<kind>\w+)' object has no attribute '(?P<name>\w+)'", _attribute),
        ("TypeError", r"^(?P<name>\w+)\(\) (?:missing|got an unexpected|takes)", _argument),
        (
            "TypeError",
            r"'<' not supported between instances of 'dict'",
            'dicts have no order: `sorted(items, key=lambda x: x["name"])`',
        ),
        (
            "TypeError",
            r"can only concatenate str|unsupported operand .*'str'",
            'text and numbers do not add up: use `f"{a}{b}"`, or `int(text)`',
        ),
        *((_VALUES, rf"is not JSON: it is (?:{kind})", advice) for kind, advice in _INSTEAD),
        ("TypeError", r"Object of type (?P<kind>\w+) is not JSON serializable", _dumped),
        ("TypeError", r"^keys must be str, int, float, bool or None, not ", _KEYS),
        (
            "TypeError",
            r"is not JSON serializable|not JSON",
            "return dicts, lists, text, numbers, booleans or None",
        ),
        (
            frozenset({"JSONDecodeError"}),
            "",
            _lenient,
        ),
        ("FileNotFoundError", "", _FILES),
        ("IndexError", "", "the list is shorter: test its length, or go through it with `for`"),
        ("RecursionError", "", "write it as a loop with a list of what is still to do"),
        ("ValueError", r"unpack", _unpacked),
    )
]

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

_WITHOUT_PACKAGES = frozenset({"multiprocessing", "ssl"})
"""Modules of the standard library, which no package brings."""

_PACKAGES = {
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "jinja2": "jinja2",
    "jwt": "pyjwt",
    "lxml": "lxml",
    "matplotlib": "matplotlib",
    "networkx": "networkx",
    "numpy": "numpy",
    "openpyxl": "openpyxl",
    "pandas": "pandas",
    "polars": "polars",
    "pydantic": "pydantic",
    "pytz": "pytz",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "sympy": "sympy",
    "tabulate": "tabulate",
    "tomli": "tomli",
    "yaml": "pyyaml",
}
"""Packages by the module that they bring: another name may be a stranger's package."""

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


def module_hint(module: str, name: str = "", *, programs: bool = False) -> str:
    """Return the text to write instead of a module, or of a name in it.

    Args:
        module: As imported, such as `urllib.parse`.
        name: The name that the module lacks; empty where the module itself is missing.
        programs: Whether `python_run` is there, whose programs import what the workspace has.
    """
    if module == "tools":
        return f"`tools` has no `{name}`; a namespace is a module of its own: `{name}.tool(...)`"
    if module == "os" and name.startswith(_PROCESSES):
        return _NO_PROCESSES
    if name:
        return _MEMBERS.get(f"{module}.{name}", "")
    top = module.partition(".")[0]
    known = _MODULES.get(top, "write it in plain Python, or let a tool do it")
    if known == _NO_NETWORK or top in _WITHOUT_PACKAGES:
        return f"`{top}` is not here: {known}"
    package = _PACKAGES.get(top)
    brings = f' = ["{package}"] brings it' if package else " brings packages, by the index's names"
    setting = f"python.packages{brings}, python.workspace_imports = true your own modules"
    other = "; programs of python_run import those without it" if programs else ""
    return f"`{top}` is not here: {known} ({setting}{other})"


_SYNTAX = (
    (r"f-string.*(?:expecting|single '\}'|empty expression)",
     "write a brace in an f-string twice: `{{`"),
    (r"f-string.*backslash|backslash.*f-string", "give that part a name before the f-string"),
    (r"unterminated (?:triple-quoted )?string|EOL while scanning",
     'close the quote; text of several lines stands in `"""`'),
    (r"was never closed|unexpected EOF", "close the bracket"),
    (r"leading zeros", "leave out the zeros in front"),
    (r"invalid decimal literal", "a name may not start with a digit"),
    (r"keyword argument repeated", "give each argument once"),
    (r"from __future__ imports must", "put this line first, or leave it out"),
    (r"expected ':'|Expected `:`", "put `:` at the end of the line"),
    (r"indent", "indent with four blanks, the first line not at all"),
)  # fmt: skip  # words, not one a line


_KEYWORD_GIVEN = lazy_pattern(rf"(?:^|[(,])\s*({'|'.join(keyword.kwlist)})\s*=(?!=)")
"""A keyword of Python in the place of a name: of an argument, or of a variable."""


def syntax_hint(message: str, line: str) -> str:
    """Return advice about a syntax error of a known kind.

    Args:
        message: The parser's message.
        line: The line that it is about.
    """
    if line.startswith(("```", "~~~")):
        return "give the code alone, without the fence around it"
    if re.match(r"else\s+if\b", line):
        return "write `elif`"
    if message == "invalid syntax" and (word := _KEYWORD_GIVEN().search(line)):
        return f"`{word[1]}` is Python's own word: write `{word[1]}_`"
    found = (hint for pattern, hint in _SYNTAX if re.search(pattern, message))
    return next(found, "")
