"""What the interpreter lacks is said before a run; what it is said to lack it does lack."""

import pytest

from engines.play import NAMESPACES, TOOLS, Play
from lineshaft.engines import micropython_lacks
from lineshaft.engines._micropython._lower import parse
from lineshaft.engines._micropython._rewrite import Lacking, Rewriter
from lineshaft.engines._reading import read
from lineshaft.values import Program

LACKING: dict[str, tuple[str, str]] = {
    "an asynchronous generator": ("async def f():\n    yield 1", "asynchronous generators"),
    "except*": ("try:\n    1\nexcept* ValueError:\n    pass", "`except*`"),
    "a metaclass": ("class A(metaclass=type): pass", "metaclass"),
    "a generator that awaits": ("sum(await give(n) for n in [1])", "generator expressions"),
    "a module": ("import pathlib", "the module pathlib"),
    "a module's part": ("from os import path", "the module os"),
    "a name of a module": ("from statistics import quantiles", "statistics.quantiles"),
    "an attribute of a module": ("math.sumprod" if hasattr(__import__("math"), "sumprod")
                                 else "math.nextafter", "math."),
    "an attribute of an imported module": ("import random as r\nr.seed(1)", "random.seed"),
    "a builtin": ("anext(x)", "the builtin anext"),
    "an attribute": ("def f(): 'x'\nf.__doc__", "__doc__"),
    "slots": ("class A:\n    __slots__ = ('a',)", "__slots__"),
    "deletion": ("class A:\n    def __del__(self): pass", "__del__"),
    "private names": ("class A:\n    def f(self): self.__x = 1", "private names"),
    "a frozen dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    x: int",
        "frozen",
    ),
    "sets of keys": ("{'a': 1}.keys() - {'b'}", "keys or items"),
    "keyword arguments in order": ("def f(**k): return list(k)", "order of keyword"),
}  # fmt: skip  # words, not one a line

TAKEN: dict[str, str] = {
    "not Python": "x = = 1",
    "a module nobody has": "import nope",
    "a module in a try": "try:\n    import pathlib\nexcept ImportError:\n    pass",
    "a name nobody has": "math.nope",
    "a name of one's own": "def anext(x): return x\nanext(1)",
    "a parameter": "def f(anext): return anext\nf(1)",
    "an attribute of one's own module name": "class math: sumprod = 1\nmath.sumprod",
    "keyword arguments by name": "def f(**k): return k['a'], k.get('b'), 'c' in k, dict(**k)",
    "tools": "import github\nfrom tools import give\nawait give(github)",
    "operators on sets": "{1} - {2}",
}


def lacks(source: str) -> str:
    """Return what is said of a script."""
    raised = micropython_lacks(Program(source=source, tools=TOOLS, namespaces=NAMESPACES))
    return "" if raised is None else raised.message


@pytest.mark.parametrize(("source", "what"), LACKING.values(), ids=LACKING)
async def test_what_it_lacks_is_said_before_the_run(play: Play, source: str, what: str) -> None:
    assert what in lacks(source)
    outcome = await play.error("await give(1)\n" + source)
    assert outcome.kind == "Unsupported"
    assert what in outcome.message
    assert outcome.message.startswith("the micropython engine does not support this: ")
    assert outcome.line is not None
    assert play.calls == []


@pytest.mark.parametrize("source", TAKEN.values(), ids=TAKEN)
def test_what_may_run_is_not_refused(source: str) -> None:
    assert lacks(source) == ""


PROBED: dict[str, tuple[str, object]] = {
    "__slots__": (
        "class A:\n    __slots__ = ()\ntry:\n    A().x = 1\nexcept AttributeError:\n    r = 1",
        1,
    ),
    "__del__": ("r = []\nclass A:\n    def __del__(self): r.append(1)\nA()", [1]),
    "__missing__": ("class D(dict):\n    def __missing__(self, k): return 7\nr = D()['x']", 7),
    "__index__": ("class A:\n    def __index__(self): return 1\nr = [5, 6][A()]", 6),
    "__init_subclass__": (
        "r = []\nclass A:\n    def __init_subclass__(cls): r.append(1)\nclass B(A): pass",
        [1],
    ),
    "__round__": ("class A:\n    def __round__(self, n=0): return 5\nr = round(A())", 5),
    "__class_getitem__": (
        "class A:\n    def __class_getitem__(c, k): return 1\nr = A[1]",
        1,
    ),
    "__doc__": ("def f(): 'x'\nr = f.__doc__", "x"),
    "__dict__": ("class A: pass\na = A()\na.__dict__['x'] = 1\nr = a.x", 1),
    "__mro__": ("class A: pass\nr = len(A.__mro__)", 2),
    "__traceback__": (
        "try:\n    1 / 0\nexcept Exception as e:\n    r = e.__traceback__ is None",
        False,
    ),
    "real": ("r = (5).real", 5),
    "order of keyword": ("def f(**k): return list(k)\nr = f(z=1, y=2, x=3, a=4)", list("zyxa")),
    "keys or items": ("r = sorted({'a': 1, 'b': 2}.keys() - {'b'})", ["a"]),
    "asynchronous generators": ("async def f():\n    yield 1\nr = hasattr(f(), 'asend')", True),
    "private names": ("class A:\n    def f(self): self.__x = 1\na = A()\na.f()\nr = a._A__x", 1),
}


@pytest.mark.parametrize(("what", "probe"), PROBED.items(), ids=PROBED)
async def test_what_it_is_said_to_lack_it_lacks(
    play: Play, what: str, probe: tuple[str, object]
) -> None:
    source, expected = probe
    here: dict[str, object] = {}
    exec(source, here)  # noqa: S102  our own text
    assert here["r"] == expected
    assert what in lacks(source)
    # The interpreter itself is asked: it takes a text for `exec` as it is.
    inside = "g = {}\ntry:\n    exec(text, g)\nexcept Exception:\n    pass\nreturn g.get('r')"
    assert await play.value(inside, text=source) != expected


def test_syntax_that_is_lacking_is_found_while_it_is_rewritten() -> None:
    program = Program(source="async def f():\n    yield 1")
    tree = parse(program.source)
    with pytest.raises(Lacking):
        Rewriter(program, read(tree, program)).module(tree)
