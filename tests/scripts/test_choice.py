"""Which engine a script is for, by reading it."""

import sys
from collections.abc import Sequence

import pytest

from lineshaft.engines import subset
from lineshaft.engines._subset_samples import LANGUAGE, METHODS
from lineshaft.scripts import prepare
from lineshaft.scripts._choice import choose
from lineshaft.values import ToolSpec

Specs = Sequence[ToolSpec]

UP = [
    ("import statistics", "line 1: import statistics"),
    ("import os\nfrom urllib.parse import quote", "line 2: import urllib.parse"),
    ("x = 1\n\ndef f():\n    yield x\n", "line 4: generators"),
    ("d = {}\ndel d['a']", "line 2: `del` of an item"),
    ("class A(Exception):\n    pass", "line 1: class inheritance"),
    ("class A:\n    @property\n    def x(self):\n        return 1", "line 2: method decorators"),
    ("class A:\n    def __len__(self):\n        return 1", "line 2: the method `__len__`"),
    ("async with x() as y:\n    pass", "line 1: `async with`"),
    ("asyncio.create_task(f())", "line 1: `asyncio.create_task`"),
    ("await asyncio.gather(f(), return_exceptions=True)",
     "line 1: `asyncio.gather(return_exceptions=)`"),
    ("from asyncio import gather as g\nawait g(f(), return_exceptions=True)",
     "line 2: `asyncio.gather(return_exceptions=)`"),
    ("json.dumps({}, default=str)", "line 1: `json.dumps(default=)`"),
    ("import json as j\nj.JSONEncoder", "line 2: `json.JSONEncoder`"),
    ("from json import JSONEncoder", "line 1: `json.JSONEncoder`"),
    ("from datetime import datetime\ndatetime.fromordinal(1)",
     "line 2: `datetime.datetime.fromordinal`"),
    ("sorted(names, key=str.lower)", "line 1: `str.lower`"),
    ("sorted(d, key=d.get)", "line 1: methods as values"),
    ("x.isocalendar()", "line 1: `.isocalendar`"),
    ("'a'.translate(t)", "line 1: `.translate`"),
    ("vars(x)", "line 1: `vars`"),
    ("callable(x)", "line 1: `callable`"),
    ("try:\n    f()\nexcept ConnectionError:\n    pass", "line 3: `ConnectionError`"),
    ("f.__name__", "line 1: `__name__` of a function"),
    ("raise ValueError('a', 1)", "line 1: errors with several values"),
    ("re.sub('a', lambda m: 'b', t)", "line 1: `re.sub` with a function"),
    ("p.sub(lambda m: 'b', t)", "line 1: `re.sub` with a function"),
    ("re.findall('a$', t)", "line 1: `$` in a pattern"),
    ("p = re.compile(r'a\\Z')", "line 1: `\\Z` in a pattern"),
    ("END = r'a$'\nre.findall(END, t)", "line 2: `$` in a pattern"),
    ("re.split(',*', t)", "line 1: empty matches"),
    ("re.sub('(a)', r'\\1 \\1_', t)", "line 1: a word after a group in a replacement"),
    ("p.sub(r'\\1' + unit, t)", "line 1: a word after a group in a replacement"),
    ("p.sub(r'\\n', t)", "line 1: escapes in a replacement"),
    ("re.findall('[a&&b]', t)", "line 1: sets of characters that are put together"),
    ("re.findall('x[[a]', t)", "line 1: sets of characters that are put together"),
    ("seen |= {x}", "line 1: sets that are changed in place"),
    ("s = set()\ns -= t", "line 2: sets that are changed in place"),
    ("def f(a, b):\n    a |= b", "line 2: sets that are changed in place"),
    ("xs = [0]\nxs *= 3", "line 2: lists that are multiplied in place"),
    ("xs = []\nxs += (1, 2)", "line 2: lists that take in what is no list"),
    ("t.encode('latin-1')", "line 1: codecs beside UTF-8"),
    ("from tools import *\nfrom math import *", "line 2: star imports"),
    ("g = (f(x) for x in xs)", "line 1: a generator expression that is not used up at once"),
    ("any(f(x) for x in xs)", "line 1: a generator expression that is not used up at once"),
    ("next(x for x in xs)", "line 1: `next` of something to go through"),
    ("for x in (y for y in ys):\n    f(x)",
     "line 1: a generator expression that is not used up at once"),
    ("m = map(f, xs)", "line 1: `map` that is not used up at once"),
    ("for x in map(f, xs):\n    print(x)", "line 1: `map` that is not used up at once"),
    ("pairs = zip(a, b)", "line 1: `zip` that is not used up at once"),
    ("for i, x in enumerate(xs):\n    xs.append(x)",
     "line 1: `enumerate` that is not used up at once"),
    ("print(set(xs))", "line 1: the order of a set"),
    ("found = {x for x in xs}\nfor x in found:\n    print(x)", "line 2: the order of a set"),
    ("max(set(xs), key=xs.count)", "line 1: the order of a set"),
    ("try:\n    json.loads(t)\nexcept ValueError as e:\n    print(e)",
     "line 3: the text of a JSON error"),
    ("try:\n    assert x\nexcept AssertionError as e:\n    print(e)",
     "line 3: the text of a failed `assert`"),
    ("open('x')", "line 1: files of its own (`open`)"),
    ("eval(t)", "line 1: code that is made while it runs (`eval`)"),
    ("str({1: 2, True: 3})", "line 1: keys that are equal"),
    ("try:\n    await asyncio.gather(*[f(x) for x in xs])\nexcept ValueError:\n    pass",
     "line 2: what goes on after `asyncio.gather` failed"),
    ("async def f():\n    await asyncio.gather(g())\ntry:\n    await f()\nexcept E:\n    pass",
     "line 2: what goes on after `asyncio.gather` failed"),
    ("isinstance(x, type)", "line 1: `type` as a value"),
    ("int('\u0663')", "line 1: digits beyond ASCII"),
    ("def f(x):\n    x *= 2", "line 2: lists that are multiplied in place"),
    ("d['a'] *= n", "line 1: lists that are multiplied in place"),
    ("from collections import namedtuple\nP = namedtuple('P', 'x')\njson.dumps(P(1))",
     "line 2: named tuples in JSON"),
    ("hasattr(x, 'items')", "line 1: `hasattr` of a method"),
    ("hasattr(x, '__iter__')", "line 1: `hasattr` of a method"),
    ("getattr(x, name, None)", "line 1: `hasattr` of a method"),
    ("f(**more, a=1)", "line 1: keywords behind `**`"),
    ("def f(a, /, **k):\n    pass\nf(1, a=2)", "line 1: parameters by position beside `**`"),
    ("pow(a, -1, m)", "line 1: the inverse of a number (`pow`)"),
    ("type(e) is ValueError", "line 1: `type` of an error"),
    ("type(e) in (KeyError, ValueError)", "line 1: `type` of an error"),
    ("try:\n    f()\nexcept Exception as e:\n    kinds[type(e)] = 1", "line 4: `type` of an error"),
    ("re.findall(r'\\w+', t)", "line 1: words in a pattern"),
    ("re.search(r'\\b' + re.escape(x) + r'\\b', t)", "line 1: words in a pattern"),
    ("re.findall(r'\\p{L}', t)", "line 1: a pattern that Python refuses"),
    ("re.sub('(a)', r'\\2', t)", "line 1: a replacement that Python refuses"),
    ("datetime.datetime.strptime(t, '%d.%m.%y')", "line 1: `strptime` with a year of two digits"),
    ("def f(s):\n    return list(s)\nf({1, 2})", "line 2: the order of a set"),
    ("def f(s=frozenset((2, 1))):\n    return list(s)\nf()", "line 2: the order of a set"),
    ("def f(s: set[int]):\n    return [x for x in s]\n", "line 2: the order of a set"),
    ("def f():\n    return set(xs)\nfor x in f():\n    pass", "line 3: the order of a set"),
    ("async def f():\n    return set(xs)\nprint(*await f())", "line 3: the order of a set"),
    ("class A:\n    def f(self):\n        self.s = set()\n        return list(self.s)",
     "line 4: the order of a set"),
    ("class A:\n    def __init__(self, s):\n        self.s = s\nprint(A({1}).s)",
     "line 4: the order of a set"),
    ("d[k] = set()", "line 1: the order of a set"),
    ("d.setdefault(k, set()).add(1)", "line 1: the order of a set"),
    ("from collections import defaultdict\nd = defaultdict(set)", "line 2: the order of a set"),
    ("a, *b = {1, 2}", "line 1: the order of a set"),
    ("s = a or {1}\nprint(s)", "line 2: the order of a set"),
    ("(s := {1}).pop()", "line 1: the order of a set"),
    ("return [set(x) for x in xs]", "line 1: the order of a set"),
    ("print(s - {1})", "line 1: the order of a set"),
]  # fmt: skip  # words, not one a line

STAYS = [
    "import json, math, os.path\nfrom collections import Counter, defaultdict",
    "import github\nfrom tools import read_file\nfrom tools import *",
    (
        "async def f(p):\n    try:\n        return await read_file(path=p)\n"
        "    except ToolError as e:\n        return e.code\n"
        "return await asyncio.gather(*(f(p) for p in ['a', 'b']))"
    ),
    "total = sum(x['n'] for x in rows)\nbest = max((x for x in rows), key=lambda r: r['n'])",
    "','.join(str(x) for x in xs)\nsorted(x for x in xs)\nlist(f(x) for x in xs)",
    "any(x == 1 for x in xs)\nall(name.startswith('a') for name in names)",
    "for i, (a, b) in enumerate(zip(xs, ys)):\n    print(i, a, b)",
    "a, b = map(int, '1 2'.split())\nxs = list(map(f, ys))\ns = set(filter(None, ys))",
    "sorted(set(xs))\nlen({x for x in xs})\n1 in set(xs)\nsorted(list(set(xs)))",
    "json.dumps(x, indent=2, sort_keys=True)\nsorted(xs, key=len, reverse=True)",
    "round(x, 2)\nround(x)\nf'{x:.2f}'",
    (
        "from dataclasses import dataclass, field\n@dataclass\nclass P:\n    x: int\n"
        "    tags: list = field(default_factory=list)\n    def __post_init__(self):\n"
        "        self.y = self.x\nP(1)"
    ),
    (
        "class A:\n    def __init__(self):\n        self.__x = 1\n    def x(self):\n"
        "        return self.__x\nA().x()"
    ),
    (
        "class A:\n    n = 0\n    def __eq__(self, o):\n        return True\n"
        "    def __hash__(self):\n        return hash(self.n)\nA.__name__"
    ),
    "datetime.datetime.strptime(t, '%Y-%m-%d %H:%M')\ndatetime.date.today().isoformat()",
    "re.findall(r'([a-z]+)=(\\d+)', t)\nre.sub(r'(a)', r'<\\1>', t)\nre.compile(r'[$]\\$\\\\w')",
    "re.sub('(a)(b)', r'\\2-\\1', t)\np.sub(r'\\g<1>_', t)\nre.findall(r'[a-z][\\[&][^]|-]', t)",
    "flags = 0\nflags |= 4\nok = True\nok &= a > b\nd = {}\nd |= more\nn -= 1\nt += 'x'",
    "n = 1\nn *= 2\nd['a'] *= 1.5\nd['a'] *= b + 1",
    "def vars(x):\n    return x\nvars(1)\ncallable = 3\ncallable + 1",
    (
        "class Table:\n    def translate(self):\n        return self.real\n"
        "    def __init__(self):\n        self.real = 1\nTable().translate()"
    ),
    "from collections import namedtuple\nP = namedtuple('P', 'root, real')\nP(1, 2).real",
    "statistics = {'mean': 1}\nstatistics['mean']",
    "match x:\n    case {'a': 1, **rest}:\n        pass\n    case [a, *b]:\n        pass",
    "await retry(lambda: read_file(path='a'), attempts=2, wait=0)",
    "try:\n    json.loads(t)\nexcept ValueError:\n    print('no JSON')",
    "hasattr(x, 'mine')\ngetattr(x, 'mine', None)\nf(a=1, **more)\nf(**more, **less)",
    "await read_file(**more, path='a')\npow(a, b, m)\ntype(x) is int\ntype(e).__name__",
    (
        "async def f(x):\n    try:\n        return await read_file(x)\n    except ToolError:\n"
        "        return await asyncio.gather(f(x))\nawait asyncio.gather(f('a'), f('b'))"
    ),
    "try:\n    await asyncio.gather(*(read_file(x) for x in xs))\nexcept ToolError:\n    pass",
    "def f(a, /, **k):\n    pass\nf(1, b=2)",
    "def f(s, x):\n    s.add(x)\n    return x in s and len(s)\ns = set()\nf(s, 1)\nsorted(s)",
    (
        "class A:\n    def __init__(self):\n        self.s = set()\n    def has(self, x):\n"
        "        self.s.update([x])\n        return x in self.s or self.s == {1}\nA().has(1)"
    ),
    "a, b = set(xs), set(ys)\nlen(a & b), sorted(a | b, reverse=True), max(a - b, default=0)",
    "def f():\n    return {1}\nx = len(f())\nif f() and not f():\n    pass\nisinstance(x, set)",
]


SHOWN = [
    ("a / b", "ZeroDivisionError", "the text of a division by zero"),
    ("x %= 2", "Exception", "the text of a division by zero"),
    ("math.sqrt(x)", "ValueError", "the text of an error of `math`"),
    ("datetime.date(y, m, d)", "ValueError", "the text of an error in a date"),
    ("day.replace(month=2)", "Exception", "the text of an error in a date"),
    ("a, b = line.split()", "ValueError", "the text of an error in an assignment"),
    ("max(xs)", "ValueError", "the text of an error of `index`, `min` or `max`"),
    ("found.remove(1)", "KeyError", "the text of an error of `remove`"),
    ("'a' in x", "(KeyError, TypeError)", "the text of a `TypeError`"),
    ("re.compile(x)", "re.error", "the text of an error in a pattern"),
    ("re.compile(x)", "Exception", "the text of an error in a pattern"),
]
"""What raises an error, how that is caught, and whose text is another one."""

NOT_SHOWN = [
    ("'%d' % x", "Exception"),
    ("a, b = await asyncio.gather(read_file('a'), read_file('b'))", "Exception"),
    ("x = [a for a, b in rows.items()]", "ValueError"),
    ("a / b", "ToolError"),
    ("a / b", "KeyError"),
    ("int(x)", "ValueError"),
    ("max(xs, default=0)", "Exception"),
]


@pytest.mark.parametrize(("body", "kind", "what"), SHOWN)
def test_a_text_in_other_words_goes_up_where_it_is_shown(
    body: str, kind: str, what: str, specs: Specs
) -> None:
    shown = f"try:\n    {body}\nexcept {kind} as e:\n    "
    assert choose(prepare(shown + "print(e)", specs=specs)) == ("cpython", f"line 3: {what}")
    assert choose(prepare(shown + "print(type(e).__name__)", specs=specs))[0] == "monty"
    assert choose(prepare(shown + "raise ValueError('no') from e", specs=specs))[0] == "monty"


@pytest.mark.parametrize(("body", "kind"), NOT_SHOWN)
def test_a_text_in_the_same_words_stays(body: str, kind: str, specs: Specs) -> None:
    script = f"async def f():\n    try:\n        {body}\n    except {kind} as e:\n        print(e)"
    assert choose(prepare(script, specs=specs))[0] == "monty"


def test_a_text_is_looked_for_in_the_functions_that_are_called(specs: Specs) -> None:
    called = "def f(x):\n    return 1 / x\ntry:\n    f(0)\nexcept Exception as e:\n    print(e)"
    assert choose(prepare(called, specs=specs))[1] == "line 5: the text of a division by zero"
    assert choose(prepare(called.replace("f(0)", "x = 0"), specs=specs))[0] == "monty"


@pytest.mark.parametrize(("script", "reason"), UP)
def test_what_the_small_engine_is_not_trusted_with_goes_up(
    script: str, reason: str, specs: Specs
) -> None:
    assert choose(prepare(script, specs=specs)) == ("cpython", reason)


@pytest.mark.parametrize("script", STAYS)
def test_what_the_small_engine_does_as_full_python_stays(script: str, specs: Specs) -> None:
    assert choose(prepare(script, specs=specs))[0] == "monty"


def test_a_sure_reason_comes_before_a_doubt(specs: Specs) -> None:
    script = "open('x')\nround\nm = map(f, xs)\nimport statistics"
    assert choose(prepare(script, specs=specs))[1] == "line 4: import statistics"


_LATER = {"`type` aliases", "type parameters"} if sys.version_info < (3, 12) else set[str]()
_ELSEWHERE = {"relative imports", "`fromisoformat` of any form", *_LATER}
"""Samples of what nobody writes, of what goes up only in a `try`, and of later Pythons."""

_FOR_ANOTHER_REASON = {"__getitem__", "__hash__"}
"""Samples that go up for something else in them."""


@pytest.mark.parametrize("name", sorted({*LANGUAGE, *METHODS} - _ELSEWHERE))
def test_a_sample_goes_up_exactly_if_the_small_engine_fails_it(name: str, specs: Specs) -> None:
    small = subset()
    prepared = prepare(LANGUAGE.get(name) or METHODS[name], specs=specs)
    lacks_method = name in METHODS and name not in small.methods
    fails = lacks_method or name in small.lacks | small.differs | _FOR_ANOTHER_REASON
    assert choose(prepared)[0] == ("cpython" if fails else "monty"), choose(prepared)[1]


def test_many_bindings_of_a_name_are_read_in_no_time(specs: Specs) -> None:
    lines = ["s = set()", *("s = s | t | s" for _ in range(400)), "print(s)"]
    assert choose(prepare("\n".join(lines), specs=specs))[1] == "line 402: the order of a set"
