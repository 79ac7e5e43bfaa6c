"""Small programs that show what the small engine's Python has: each holds on full Python.

A program that ends without an error shows that the engine has the feature under whose name it
stands. The names stand in reasons: "line 3: generators".
"""

# ruff: noqa: E501  programs read best in a line

LANGUAGE = {
    "class inheritance": "class A:\n    pass\nclass B(A):\n    pass\nassert isinstance(B(), A)",
    "keywords of a class": "class A(metaclass=type):\n    pass\nA()",
    "class decorators": "def d(c):\n    c.z = 3\n    return c\n@d\nclass A:\n    pass\nassert A.z == 3",
    "method decorators": (
        "class A:\n    @staticmethod\n    def f():\n        return 1\nassert A.f() == 1"
    ),
    "statements in a class": "class A:\n    for x in [1]:\n        pass\nassert A.x == 1",
    "nested classes": "class A:\n    class B:\n        x = 1\nassert A.B.x == 1",
    "values in a class": "class A:\n    x = 1\n    y: int = 2\nassert A.x + A().y == 3",
    "annotations in a class": "class A:\n    x: int\n    def f(self):\n        return 1\nA().f()",
    "`__slots__`": "class A:\n    __slots__ = ('x',)\na = A()\ntry:\n    a.z = 1\nexcept AttributeError:\n    a = None\nassert a is None",
    "private names": "class A:\n    def __init__(self):\n        self.__x = 1\nassert hasattr(A(), '_A__x')",
    "iteration by `__getitem__`": "class A:\n    def __getitem__(self, i):\n        if i > 1:\n            raise IndexError\n        return i\nassert list(A()) == [0, 1]",
    "tuples of names in a class": "class A:\n    x, y = 1, 2\nassert A.x == 1",
    "docstrings in a class": "class A:\n    '''Text.'''\n    x = 1\nassert A.x == 1",
    "async methods": "class A:\n    async def f(self):\n        return 1\nassert await A().f() == 1",
    "function decorators": (
        "def d(f):\n    return lambda: f() + 1\n@d\ndef g():\n    return 1\nassert g() == 2"
    ),
    "generators": "def f():\n    yield 1\nassert list(f()) == [1]",
    "`yield from`": "def f():\n    yield from [1]\nassert list(f()) == [1]",
    "async generators": "async def f():\n    yield 1\nf()",
    "`del` of a name": "x = 1\ndel x",
    "`del` of an item": "x = {1: 2}\ndel x[1]\nassert x == {}",
    "`del` of a slice": "x = [1, 2]\ndel x[1:]\nassert x == [1]",
    "`del` of an attribute": "class A:\n    pass\na = A()\na.x = 1\ndel a.x",
    "`with`": (
        "class A:\n    def __enter__(self):\n        return 5\n"
        "    def __exit__(self, *e):\n        return True\n"
        "with A() as x:\n    raise ValueError('x')\nassert x == 5"
    ),
    "`async with`": (
        "class A:\n    async def __aenter__(self):\n        return 1\n"
        "    async def __aexit__(self, *e):\n        return None\nasync with A() as x:\n    pass"
    ),
    "`async for`": (
        "class A:\n    def __aiter__(self):\n        return self\n"
        "    async def __anext__(self):\n        raise StopAsyncIteration\n"
        "async for x in A():\n    pass"
    ),
    "async comprehensions": (
        "class A:\n    def __aiter__(self):\n        return self\n"
        "    async def __anext__(self):\n        raise StopAsyncIteration\n"
        "assert [x async for x in A()] == []"
    ),
    "`await` in a comprehension": (
        "async def f(x):\n    return x\n"
        "assert [await f(i) for i in range(3) if await f(i)] == [1, 2]\n"
        "assert {await f(1): await f(2) for i in [1]} == {1: 2}"
    ),
    "`except*`": "try:\n    raise ValueError('x')\nexcept* ValueError:\n    pass",
    "`try`": (
        "r = []\ntry:\n    r.append(1)\nexcept ValueError:\n    r.append(2)\nelse:\n    r.append(3)\n"
        "finally:\n    r.append(4)\nassert r == [1, 3, 4]"
    ),
    "lambda defaults": "assert (lambda x, y=2, *a, **k: x + y)(1) == 3",
    "parameters of every kind": (
        "def f(a, /, b, *c, d=1, **e):\n    return (a, b, c, d, e)\n"
        "assert f(1, 2, 3, d=4, e=5) == (1, 2, (3,), 4, {'e': 5})"
    ),
    "type parameters": "def f[T](x: T) -> T:\n    return x\nassert f(1) == 1",
    "stars in an assignment": "a, *b = [1, 2, 3]\nassert b == [2, 3]",
    "stars in a call": (
        "def f(*a, **k):\n    return (a, k)\n"
        "assert f(*[1], *[2], **{'x': 1}, **{'y': 2}) == ((1, 2), {'x': 1, 'y': 2})"
    ),
    "stars in a display": "assert ([*[1], 2], {**{'a': 1}}, {*[1]}) == ([1, 2], {'a': 1}, {1})",
    "stars in a subscript": "i = (2,)\nx = {(1, 2): 3}\nassert x[1, *i] == 3",
    "`match`": (
        "match [5, 'a']:\n    case [1 | 2, _]:\n        r = 0\n    case [n, str(y)] if n > 3:\n"
        "        r = (n, y)\nassert r == (5, 'a')"
    ),
    "`match` on a dict": (
        "match {'a': 1, 'b': 2}:\n    case {'a': 1, **rest}:\n        r = rest\nassert r == {'b': 2}"
    ),
    "`match` on a class": (
        "class P:\n    def __init__(self):\n        self.x = 1\n"
        "match P():\n    case P(x=v):\n        r = v\nassert r == 1"
    ),
    "`match` on a value": "class C:\n    R = 1\nmatch 1:\n    case C.R:\n        r = 9\nassert r == 9",
    "`type` aliases": "type X = int",
    "`global`": "x = 1\ndef f():\n    global x\n    x = 2\nf()\nassert x == 2",
    "`nonlocal`": (
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n    g()\n"
        "    return x\nassert f() == 2"
    ),
    "`:=`": "assert [y for x in range(3) if (y := x * 2)] == [2, 4]\nassert y == 4",
    "`@`": "class A:\n    def __matmul__(self, o):\n        return 5\nassert A() @ 1 == 5",
    "`@=`": "class A:\n    def __matmul__(self, o):\n        return 5\na = A()\na @= 1\nassert a == 5",
    "star imports": "from math import *\nassert sqrt(4) == 2",
    "imports inside of functions": "def f():\n    import math\n    return math.pi\nassert f() > 3",
    "relative imports": "from . import x",
    "`from __future__`": "from __future__ import annotations",
    "complex numbers": "assert 1j * 1j == -1",
    "`...`": "assert ... is Ellipsis",
    "`{x=}`": "x = 1\nassert f'{x=} {x + 1 = :>3}' == 'x=1 x + 1 =   2'",
    "chained comparisons": "assert 1 < 2 < 3 != 4",
    "slices": "x = [1, 2, 3, 4]\nx[1:3] = [9]\nassert x[::-1] == [4, 9, 1]",
    "loops with `else`": "for i in []:\n    pass\nelse:\n    r = 1\nassert r == 1",
    "attributes of a function": "def f():\n    pass\nf.x = 1\nassert f.x == 1",
    "methods as values": "f = 'a'.upper\nassert f() == 'A'",
    "methods of own classes as values": (
        "class A:\n    def f(self, x):\n        return x\nassert list(map(A().f, [1])) == [1]"
    ),
    "the module's docstring": "'Text.'\nassert __doc__ == 'Text.'",
    "`raise` with a cause": (
        "try:\n    raise ValueError('x') from KeyError('y')\nexcept ValueError as e:\n    pass"
    ),
    "errors with several values": "assert ValueError('a', 1).args == ('a', 1)",
    "errors with a value that is no text": "assert ValueError(5).args == (5,)",
    "`__name__` of a class": "class A:\n    pass\nassert A.__name__ == type(A()).__name__ == 'A'",
    "`__name__` of a type": "assert type(1).__name__ == 'int'",
    "`__name__` of a function": "def f():\n    pass\nassert f.__name__ == 'f'",
    "`__class__`": "assert (1).__class__.__name__ == 'int'",
    "`__dict__`": "class A:\n    pass\na = A()\na.x = 1\nassert a.__dict__ == {'x': 1}",
    "`__doc__`": "def f():\n    'Text.'\nassert f.__doc__ == 'Text.'",
    "`__name__`": "assert __name__ == '__main__'",
    "`re.sub` with a function": "import re\nassert re.sub('a', lambda m: 'b', 'a') == 'b'",
    "escapes in a replacement": "import re\nassert re.sub('a', r'\\n', 'a') == '\\n'",
    "groups in a replacement": "import re\nassert re.sub('(a)', r'<\\1\\g<1>>', 'a') == '<aa>'",
    "a word after a group in a replacement": "import re\nassert re.sub('(a)', r'\\1_', 'a') == 'a_'",
    "sets of characters that are put together": "import re\nassert re.findall('[a&&b]', 'a') == ['a']",
    "sets that are changed in place": "a = b = {1}\nb |= {2}\nassert a == {1, 2}",
    "lists that are multiplied in place": "a = b = [1]\nb *= 2\nassert a == [1, 1]",
    "lists that take in what is no list": "a = [1]\na += (2,)\nassert a == [1, 2]",
    "`$` in a pattern": "import re\nassert re.search('a$', 'a\\n')",
    "`\\Z` in a pattern": "import re\nassert not re.search(r'a\\Z', 'a\\n')",
    "empty matches": "import re\nassert re.findall(r'x*', 'abxd') == ['', '', 'x', '', '']",
    "groups of a match by name": "import re\nassert re.match('(?P<a>x)', 'x').start('a') == 0",
    "a default for `groups`": "import re\nassert re.match('(x)|(y)', 'x').groups('') == ('x', '')",
    "`strptime` without a whole date": "import datetime\nassert datetime.datetime.strptime('2024-05', '%Y-%m').month == 5",
    "`strptime` without minutes": "import datetime\nassert datetime.datetime.strptime('2024-01-02 3 PM', '%Y-%m-%d %I %p').hour == 15",
    "`fromisoformat` of any form": "import datetime\nassert datetime.datetime.fromisoformat('20240102T10').hour == 10",
    "several sets in one call": "assert {1}.union([2], [3]) == {1, 2, 3}",
    "parts of a `timedelta`": "import datetime\nassert datetime.timedelta(days=1.5).seconds == 43200\nassert datetime.timedelta(hours=3) % datetime.timedelta(hours=2) == datetime.timedelta(hours=1)",
    "keys that are equal": "assert str({1: 'a', True: 'b'}) == \"{1: 'b'}\"",
    "lookarounds in a pattern": "import re\nassert re.findall('(?<=a)b(?!c)', 'abac ab') == ['b', 'b']",
    "`round` to digits": "assert (round(2.675, 2), round(0.35, 1)) == (2.67, 0.3)",
    "`hasattr` of a method": "assert hasattr([], 'append')\nassert getattr([], 'append', None) is not None",
    "keywords behind `**`": "assert list(dict(**{'a': 1}, b=2)) == ['a', 'b']",
    "parameters by position beside `**`": "def f(a, /, **k):\n    return k\nassert f(1, a=2) == {'a': 2}",
    "the inverse of a number (`pow`)": "assert pow(3, -1, 7) == 5",
    "named tuples in JSON": "import collections, json\nP = collections.namedtuple('P', 'x')\nassert json.dumps(P(1)) == '[1]'",
    "`type` as a value": "assert isinstance(int, type)",
    "digits beyond ASCII": "assert int('\u0663') == 3",
    "`type` of an error": "assert type(ValueError('x')) is ValueError",
    "words in a pattern": "import re\nassert re.findall(r'\\w', 'm\u00b2e\u0301') == ['m', '\u00b2', 'e']",
    "`strptime` with a year of two digits": "import datetime\nassert datetime.datetime.strptime('01-02-69', '%m-%d-%y').year == 1969",
    "`object()`": "x = object()\nassert x is x",
    "`TypeVar`": "from typing import TypeVar\nT = TypeVar('T')",
    "methods of `sys.stdout`": "import sys\nsys.stdout.write('')",
    "codecs beside UTF-8": "assert 'é'.encode('latin-1') == b'\\xe9'",
    "`bytes` of numbers": "assert bytes([1, 2])[0] == 1",
    "`type` with three values": "A = type('A', (), {'x': 1})\nassert A.x == 1",
}
"""Each by the name that the choice of the engine knows it by."""

METHODS = {
    "__init__": "class A:\n    def __init__(self, x):\n        self.x = x\nassert A(1).x == 1",
    "__str__": "class A:\n    def __str__(self):\n        return 's'\nassert f'{A()}' == str(A()) == 's'",
    "__repr__": "class A:\n    def __repr__(self):\n        return 'r'\nassert f'{[A()]}' == '[r]'",
    "__eq__": "class A:\n    def __eq__(self, o):\n        return True\nassert A() == 1\nassert 1 in [A()]",
    "__ne__": "class A:\n    def __ne__(self, o):\n        return False\nassert not (A() != 1)",
    "__lt__": "class A:\n    def __lt__(self, o):\n        return True\nassert A() < A()",
    "__le__": "class A:\n    def __le__(self, o):\n        return True\nassert A() <= A()",
    "__gt__": "class A:\n    def __gt__(self, o):\n        return True\nassert A() > A()",
    "__ge__": "class A:\n    def __ge__(self, o):\n        return True\nassert A() >= A()",
    "__hash__": "class A:\n    def __hash__(self):\n        return 5\nassert hash(A()) == 5",
    "__bool__": "class A:\n    def __bool__(self):\n        return False\nassert not A()",
    "__len__": "class A:\n    def __len__(self):\n        return 3\nassert len(A()) == 3",
    "__getitem__": "class A:\n    def __getitem__(self, i):\n        return i\nassert A()[5] == 5",
    "__setitem__": (
        "class A:\n    def __setitem__(self, i, v):\n        self.v = v\n"
        "a = A()\na[1] = 2\nassert a.v == 2"
    ),
    "__delitem__": "class A:\n    def __delitem__(self, i):\n        pass\ndel A()[1]",
    "__contains__": "class A:\n    def __contains__(self, i):\n        return True\nassert 5 in A()",
    "__iter__": "class A:\n    def __iter__(self):\n        return iter([1])\nassert list(A()) == [1]",
    "__next__": (
        "class A:\n    n = 0\n    def __iter__(self):\n        return self\n"
        "    def __next__(self):\n        if self.n > 1:\n            raise StopIteration\n"
        "        self.n += 1\n        return self.n\nassert [x for x in A()] == [1, 2]\n"
        "assert next(A()) == 1"
    ),
    "__reversed__": "class A:\n    def __reversed__(self):\n        return iter([1])\nassert list(reversed(A()))",
    "__call__": "class A:\n    def __call__(self, x):\n        return x\nassert A()(3) == 3",
    "__getattr__": "class A:\n    def __getattr__(self, n):\n        return n\nassert A().foo == 'foo'",
    "__setattr__": "class A:\n    def __setattr__(self, n, v):\n        print(n)\nA().x = 1",
    "__format__": "class A:\n    def __format__(self, s):\n        return s\nassert f'{A():x}' == 'x'",
    "__enter__": LANGUAGE["`with`"],
    "__exit__": LANGUAGE["`with`"],
    "__new__": "class A:\n    def __new__(cls):\n        return 5\nassert A() == 5",
    "__int__": "class A:\n    def __int__(self):\n        return 4\nassert int(A()) == 4",
    "__float__": "class A:\n    def __float__(self):\n        return 4.0\nassert float(A()) == 4",
    "__index__": "class A:\n    def __index__(self):\n        return 1\nassert [1, 2][A()] == 2",
    "__abs__": "class A:\n    def __abs__(self):\n        return 4\nassert abs(A()) == 4",
    "__round__": "class A:\n    def __round__(self):\n        return 4\nassert round(A()) == 4",
    "__neg__": "class A:\n    def __neg__(self):\n        return 7\nassert -A() == 7",
    "__post_init__": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
        "    def __post_init__(self):\n        self.y = self.x + 1\nassert A(1).y == 2"
    ),
}  # fmt: skip  # a table
"""Methods with a meaning of their own, by name."""

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@",
}  # fmt: skip  # a table

for _name, _sign in _OPERATORS.items():
    METHODS[f"__{_name}__"] = (
        f"class A:\n    def __{_name}__(self, o):\n        return 5\nassert A() {_sign} 1 == 5"
    )
    METHODS[f"__r{_name}__"] = (
        f"class A:\n    def __r{_name}__(self, o):\n        return 5\nassert 1 {_sign} A() == 5"
    )
    METHODS[f"__i{_name}__"] = (
        f"class A:\n    def __i{_name}__(self, o):\n        return 5\n"
        f"a = A()\na {_sign}= 1\nassert a == 5"
    )

KEYWORDS: dict[str, tuple[str, dict[str, str]]] = {
    "asyncio.gather": ("", {"return_exceptions": "True"}),
    "collections.Counter": ("'a'", {"b": "1"}),
    "collections.deque": ("[1]", {"maxlen": "1"}),
    "collections.namedtuple": ("'P', 'x'", {"defaults": "[1]", "rename": "True"}),
    "csv.DictReader": ("['a;b']", {"delimiter": "';'", "fieldnames": "['x']", "quotechar": "'|'"}),
    "csv.reader": ("['a;b']", {"delimiter": "';'", "quotechar": "'|'"}),
    "dataclasses.dataclass": (
        "",
        dict.fromkeys(("frozen", "order", "slots", "kw_only", "eq", "repr", "init"), "True"),
    ),
    "dataclasses.field": (
        "",
        {"default": "1", "default_factory": "list", "repr": "False", "compare": "False",
         "init": "False"},
    ),
    "datetime.date": ("", {"year": "2024", "month": "1", "day": "1"}),
    "datetime.datetime": (
        "2024, 1, 1",
        {"hour": "1", "minute": "1", "second": "1", "microsecond": "1",
         "tzinfo": "datetime.timezone.utc", "fold": "0"},
    ),
    "datetime.timedelta": (
        "",
        dict.fromkeys(("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks"), "1"),
    ),
    "dict": ("", {"a": "1"}),
    "enumerate": ("[1]", {"start": "1"}),
    "functools.lru_cache": ("", {"maxsize": "None", "typed": "False"}),
    "functools.partial": ("int", {"base": "2"}),
    "functools.reduce": ("max, [1]", {}),
    "hashlib.md5": ("b'a'", {"usedforsecurity": "False"}),
    "hashlib.sha256": ("b'a'", {"usedforsecurity": "False"}),
    "int": ("'1'", {"base": "2"}),
    "itertools.accumulate": ("[1]", {"func": "max", "initial": "1"}),
    "itertools.count": ("", {"start": "1", "step": "2"}),
    "itertools.groupby": ("[1]", {"key": "len"}),
    "itertools.product": ("[1]", {"repeat": "2"}),
    "itertools.repeat": ("1", {"times": "2"}),
    "itertools.zip_longest": ("[1]", {"fillvalue": "1"}),
    "json.dumps": (
        "{}",
        {"indent": "2", "sort_keys": "True", "ensure_ascii": "False", "separators": "(',', ':')",
         "default": "str", "cls": "None", "allow_nan": "True", "skipkeys": "True",
         "check_circular": "True"},
    ),
    "json.loads": (
        "'{}'",
        {"object_hook": "len", "parse_float": "str", "parse_int": "str", "parse_constant": "str",
         "object_pairs_hook": "list", "strict": "False", "cls": "None"},
    ),
    "math.isclose": ("1, 1", {"rel_tol": "0.1", "abs_tol": "0.1"}),
    "math.prod": ("[1]", {"start": "2"}),
    "max": ("[1]", {"key": "str", "default": "0"}),
    "min": ("[1]", {"key": "str", "default": "0"}),
    "print": ("1", {"sep": "''", "end": "''", "file": "None", "flush": "True"}),
    "random.choices": ("[1]", {"weights": "[1]", "k": "2", "cum_weights": "[1]"}),
    "random.sample": ("[1]", {"k": "1", "counts": "[1]"}),
    "re.compile": ("'a'", {"flags": "0"}),
    "re.findall": ("'a', 'a'", {"flags": "0"}),
    "re.finditer": ("'a', 'a'", {"flags": "0"}),
    "re.fullmatch": ("'a', 'a'", {"flags": "0"}),
    "re.match": ("'a', 'a'", {"flags": "0"}),
    "re.search": ("'a', 'a'", {"flags": "0"}),
    "re.split": ("'a', 'a'", {"maxsplit": "1", "flags": "0"}),
    "re.sub": ("'a', 'b', 'a'", {"count": "1", "flags": "0"}),
    "round": ("1.25", {"ndigits": "1"}),
    "sorted": ("[1]", {"key": "str", "reverse": "True"}),
    "sum": ("[1]", {"start": "5"}),
    "zip": ("[1]", {"strict": "True"}),
}  # fmt: skip  # a table
"""Functions whose keywords are tried: arguments that stand before them, and a value for each."""

ARGUMENTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "astimezone": ("datetime.datetime(2024, 1, 1)", "", {"tz": "datetime.timezone.utc"}),
    "decode": ("b'a'", "", {"encoding": "'utf-8'", "errors": "'replace'"}),
    "encode": ("'a'", "", {"encoding": "'utf-8'", "errors": "'replace'"}),
    "expandtabs": ("'a'", "", {"tabsize": "4"}),
    "isoformat": ("datetime.datetime(2024, 1, 1)", "", {"sep": "' '", "timespec": "'minutes'"}),
    "most_common": ("collections.Counter('a')", "", {"n": "1"}),
    "quantize": ("decimal.Decimal('1.5')", "decimal.Decimal('1')",
                 {"rounding": "decimal.ROUND_HALF_UP"}),
    "replace": (
        "datetime.datetime(2024, 1, 1)",
        "",
        {"year": "2023", "month": "1", "day": "1", "hour": "1", "minute": "1", "second": "1",
         "microsecond": "1", "tzinfo": "datetime.timezone.utc", "fold": "0"},
    ),
    "rsplit": ("'a'", "", {"sep": "'a'", "maxsplit": "1"}),
    "search": ("re.compile('a')", "'a'", {"pos": "0"}),
    "sort": ("[1]", "", {"key": "str", "reverse": "True"}),
    "split": ("'a'", "", {"sep": "'a'", "maxsplit": "1"}),
    "splitlines": ("'a'", "", {"keepends": "True"}),
    "sub": ("re.compile('a')", "'b', 'a'", {"count": "1"}),
}  # fmt: skip  # a table
"""Methods whose keywords are tried: a value, arguments that stand before, a value for each."""

VALUES = {
    "str": "'a'",
    "bytes": "b'a'",
    "list": "[1]",
    "dict": "{1: 1}",
    "set": "{1}",
    "frozenset": "frozenset([1])",
    "tuple": "(1,)",
    "int": "1",
    "float": "1.0",
    "complex": "1j",
    "range": "range(3)",
    "slice": "slice(1)",
    "dict_keys": "{}.keys()",
    "dict_items": "{}.items()",
    "datetime": "datetime.datetime(2020, 1, 1)",
    "date": "datetime.date(2020, 1, 1)",
    "time": "datetime.time(1)",
    "timedelta": "datetime.timedelta(1)",
    "timezone": "datetime.timezone.utc",
    "Counter": "collections.Counter()",
    "deque": "collections.deque([1])",
    "defaultdict": "collections.defaultdict(list)",
    "namedtuple": "collections.namedtuple('P', 'x')(1)",
    "Match": "re.match('a', 'a')",
    "Pattern": "re.compile('a')",
    "Path": "pathlib.Path('a')",
    "Decimal": "decimal.Decimal(1)",
    "hash": "hashlib.sha256()",
    "Random": "random.Random(1)",
    "Exception": "Exception('x')",
    "struct_time": "time.gmtime(0)",
}
"""A value of each kind that scripts hold, whose attributes are tried."""

CLASSES = (
    "str", "bytes", "int", "float", "dict", "list", "set", "tuple", "datetime.datetime",
    "datetime.date", "datetime.time", "datetime.timedelta", "datetime.timezone",
    "itertools.chain", "collections.Counter", "collections.deque", "pathlib.Path",
    "decimal.Decimal",
)  # fmt: skip  # a table
"""Classes whose own attributes are tried, such as `dict.fromkeys`."""

IMPORTS = (
    "import collections, datetime, decimal, hashlib, itertools, math, pathlib, random, re, time"
)
