"""`match` as a chain of `if`."""

import ast
from collections.abc import Sequence

_SEQUENCES = ("list", "tuple")
_TRUE = ast.Constant(value=True)
_FALSE = ast.Constant(value=False)


def match_statement(node: ast.Match, subject: str) -> list[ast.stmt]:
    """Return statements that do what a `match` does.

    Args:
        node: The statement.
        subject: A free name, to hold its subject.
    """
    done = f"{subject}d"
    first = ast.Assign([_store(subject), _store(f"{subject}_")], node.subject)
    statements: list[ast.stmt] = [first, _set(done, value=False)]
    for case in node.cases:
        test = _test(case.pattern, _load(subject))
        if case.guard is not None:
            test = _all([test, case.guard])
        here = _all([ast.UnaryOp(ast.Not(), _load(done)), test])
        mark = _set(done, value=True)
        ast.copy_location(mark, case.body[0])
        statements.append(_at(ast.If(here, [mark, *case.body], []), case.pattern))
    for statement in statements:
        if not hasattr(statement, "lineno"):
            ast.copy_location(statement, node)
    return statements


def _at(statement: ast.stmt, place: ast.pattern) -> ast.stmt:
    statement.lineno, statement.col_offset = place.lineno, place.col_offset
    return statement


def _load(text: str) -> ast.expr:
    return ast.Name(text, ast.Load())


def _store(text: str) -> ast.expr:
    return ast.Name(text, ast.Store())


def _set(text: str, *, value: bool) -> ast.stmt:
    return ast.Assign([_store(text)], ast.Constant(value=value))


def _all(tests: Sequence[ast.expr]) -> ast.expr:
    tests = [t for t in tests if not (isinstance(t, ast.Constant) and t.value is True)]
    if not tests:
        return _TRUE
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def _call(text: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_load(text), list(arguments), [])


def _compare(left: ast.expr, how: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(left, [how], [right])


def _bind(text: str, value: ast.expr) -> ast.expr:
    """Return a test that binds a name and is true."""
    bound = ast.NamedExpr(ast.Name(text, ast.Store()), value)
    return ast.BoolOp(ast.Or(), [_call("bool", ast.List([bound], ast.Load())), _TRUE])


def _test(pattern: ast.pattern, value: ast.expr) -> ast.expr:
    match pattern:
        case ast.MatchValue(value=wanted):
            test = _compare(value, ast.Eq(), wanted)
        case ast.MatchSingleton(value=wanted):
            test = _compare(value, ast.Is(), ast.Constant(value=wanted))
        case ast.MatchAs(pattern=inner, name=text):
            tests = [_test(inner, value)] if inner is not None else []
            test = _all([*tests, *([_bind(text, value)] if text else [])])
        case ast.MatchOr(patterns=options):
            test = ast.BoolOp(ast.Or(), [_test(option, value) for option in options])
        case ast.MatchSequence(patterns=parts):
            test = _sequence(parts, value)
        case ast.MatchMapping():
            test = _mapping(pattern, value)
        case ast.MatchClass():
            test = _class(pattern, value)
        case _:
            test = _FALSE
    return test


def _sequence(parts: Sequence[ast.pattern], value: ast.expr) -> ast.expr:
    kinds = ast.Tuple([_load(kind) for kind in _SEQUENCES], ast.Load())
    star = next((n for n, part in enumerate(parts) if isinstance(part, ast.MatchStar)), None)
    size = _call("len", value)
    fixed = len(parts) - (star is not None)
    how = ast.Eq() if star is None else ast.GtE()
    tests = [_call("isinstance", value, kinds), _compare(size, how, ast.Constant(fixed))]
    for number, part in enumerate(parts):
        if isinstance(part, ast.MatchStar):
            if part.name:
                after = len(parts) - number - 1
                upper = ast.Constant(-after) if after else None
                cut = ast.Subscript(value, ast.Slice(ast.Constant(number), upper), ast.Load())
                tests.append(_bind(part.name, _call("list", cut)))
            continue
        place = number if star is None or number < star else number - len(parts)
        tests.append(_test(part, ast.Subscript(value, ast.Constant(place), ast.Load())))
    return _all(tests)


def _mapping(pattern: ast.MatchMapping, value: ast.expr) -> ast.expr:
    tests = [_call("isinstance", value, _load("dict"))]
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        tests.append(_compare(key, ast.In(), value))
        tests.append(_test(part, ast.Subscript(value, key, ast.Load())))
    if pattern.rest:
        item = ast.Tuple([_load("_ls_k"), _load("_ls_v")], ast.Load())
        target = ast.Tuple([_store("_ls_k"), _store("_ls_v")], ast.Store())
        keys = ast.Tuple(list(pattern.keys), ast.Load())
        left = ast.comprehension(
            target,
            ast.Call(ast.Attribute(value, "items", ast.Load()), [], []),
            [_compare(_load("_ls_k"), ast.NotIn(), keys)],
            0,
        )
        tests.append(_bind(pattern.rest, _call("_ls_dict", ast.ListComp(item, [left]))))
    return _all(tests)


def _class(pattern: ast.MatchClass, value: ast.expr) -> ast.expr:
    tests = [_call("isinstance", value, pattern.cls)]
    builtin = isinstance(pattern.cls, ast.Name) and pattern.cls.id in {
        "str", "int", "float", "bool", "list", "tuple", "dict", "set", "bytes",
    }  # fmt: skip  # words, not one a line
    for number, part in enumerate(pattern.patterns):
        if builtin:
            tests.append(_test(part, value))
            continue
        fields = ast.Attribute(value, "__match_args__", ast.Load())
        field = ast.Subscript(fields, ast.Constant(number), ast.Load())
        tests.append(_test(part, _call("getattr", value, field)))
    for text, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        tests.append(_call("hasattr", value, ast.Constant(text)))
        tests.append(_test(part, ast.Attribute(value, text, ast.Load())))
    return _all(tests)
