"""What the interpreter's language lacks or does differently, in terms of what it has.

The functions named `_ls_...` are those of `guest/boot.upy`. New nodes take the place of the node
that they stand for, so that errors name its line.
"""

import ast
from collections.abc import Sequence
from typing import cast

from lineshaft.engines._micropython._match import match_statement
from lineshaft.engines._micropython._nodes import (
    awaits,
    bound_names,
    call,
    classes,
    constant,
    dict_of,
    guarded,
    joined,
    may_be_tool,
    may_catch_memory_error,
    mirror,
    name,
    no_arguments,
    placed,
    star,
    star_imports,
    takes_tools_as_values,
    within,
    without_docstring,
)
from lineshaft.engines._reading import Reading
from lineshaft.values import Program

TEXT_METHODS = frozenset(
    {
        "title", "capitalize", "swapcase", "casefold", "zfill", "ljust", "rjust", "center",
        "removeprefix", "removesuffix", "isalnum", "isnumeric", "isdecimal", "isidentifier",
        "splitlines", "expandtabs", "translate", "isprintable", "istitle", "isascii", "format_map",
        "encode", "rindex", "isalpha", "isdigit", "isspace", "isupper", "islower", "upper", "lower",
        "format", "maketrans",
    }
)  # fmt: skip  # words, not one a line
"""Methods of texts that the interpreter lacks, or has for ASCII only."""

METHODS = TEXT_METHODS | {
    "sort", "bit_length", "bit_count", "is_integer", "union", "intersection", "difference",
    "update", "fromkeys",
}  # fmt: skip  # words, not one a line
"""Methods of any values that stand in `guest`."""

_BUILTINS = {"str": "_ls_text", "dict": "_ls_dict", "isinstance": "_ls_isinstance"}
_GENERIC = ("list", "dict", "set", "tuple", "frozenset", "type")
_MIRRORED = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__"}
_DECORATORS = (ast.Name, ast.Attribute)


class Lacking(Exception):
    """The interpreter has nothing like it."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Rewriter(ast.NodeTransformer):
    """Rewrites the tree of one script, in place."""

    def __init__(self, program: Program, found: Reading) -> None:
        self._program = program
        self._direct = {c.node for c in found.calls if c.way == "direct" and c.awaited is None}
        self._later = {c.node for c in found.calls if c.way == "later"}
        self._known = {c.node for c in found.calls}
        self._aliased = False
        self._bound: set[str] = set()
        self._before: list[ast.stmt] = []
        self._made = 0

    def module(self, tree: ast.Module) -> ast.Module:
        """Return the tree of a script as a module that defines `_ls_main`."""
        self._aliased = takes_tools_as_values(self._program, tree)
        self._bound = bound_names(tree.body) | set(self._program.inputs)
        stars = star_imports(tree.body)
        body = self.block([s for s in tree.body if s not in stars])
        if body and isinstance(body[-1], ast.Expr):
            body[-1] = ast.copy_location(ast.Return(value=body[-1].value), body[-1])
        own = sorted(bound_names(body))
        if own:
            body.insert(0, ast.copy_location(ast.Global(names=own), body[0]))
        main = ast.AsyncFunctionDef(
            name="_ls_main", args=no_arguments(), body=body or [ast.Pass()], decorator_list=[],
            lineno=1, col_offset=0,
        )  # fmt: skip  # one node
        imported = [ast.copy_location(ast.Expr(star(s)), s) for s in stars]
        return ast.Module(body=[*imported, main], type_ignores=[])

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements rewritten."""
        done: list[ast.stmt] = []
        for statement in statements:
            outer, self._before = self._before, []
            new = self.visit(statement)
            done += [ast.copy_location(added, statement) for added in self._before]
            self._before = outer
            done += cast("list[ast.stmt]", new if isinstance(new, list) else [new])
        return done

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self.block(cast("list[ast.stmt]", value)) or [ast.Pass()])
            elif isinstance(value, list):
                items = cast("list[object]", value)
                setattr(node, field, [self._item(item) for item in items])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def _item(self, item: object) -> object:
        return self.visit(item) if isinstance(item, ast.AST) else item

    def visit(self, node: ast.AST) -> ast.AST:
        new = super().visit(node)
        if isinstance(new, ast.AST) and new is not node and hasattr(node, "lineno"):
            ast.copy_location(new, node)
        return new

    def _builtin(self, node: ast.expr, *names: str) -> str | None:
        """Return which of some builtins a name means."""
        if isinstance(node, ast.Name) and node.id in names and node.id not in self._bound:
            return node.id
        return None

    # -- definitions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._define(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in within(node)):
            raise Lacking("asynchronous generators", node.lineno)
        return self._define(node)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._arguments(node.args)
        node.returns = None
        node.body = without_docstring(node.body)
        return self._decorated(self.generic_visit(node))

    def _decorated(self, node: ast.AST) -> ast.AST:
        """Return a definition, and what decorates it as calls where its syntax is not known."""
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)  # noqa: S101  as its callers say
        if all(isinstance(decorator, _DECORATORS) for decorator in node.decorator_list):
            return node
        value: ast.expr = name(node.name)
        for decorator in reversed(node.decorator_list):
            value = ast.Call(decorator, [value], [])
        node.decorator_list = []
        bound = ast.Assign([ast.Name(node.name, ast.Store())], value)
        return cast("ast.AST", [node, ast.copy_location(bound, node)])

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._arguments(node.args)
        return self.generic_visit(node)

    def _arguments(self, args: ast.arguments) -> None:
        args.args = args.posonlyargs + args.args
        args.posonlyargs = []
        for arg in (*args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if arg is not None:
                arg.annotation = None

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        if node.keywords:
            raise Lacking(f"class {node.name} with a metaclass or keywords", node.lineno)
        fields = [
            ast.Tuple([constant(s.target.id), constant(s.value is not None)], ast.Load())
            for s in node.body
            if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
        ]
        node.body = without_docstring(node.body)
        self.generic_visit(node)
        if fields:
            target = ast.Name(id="_ls_fields", ctx=ast.Store())
            noted = ast.Assign(
                targets=[target], value=ast.Tuple(list[ast.expr](fields), ast.Load())
            )
            node.body.append(ast.copy_location(noted, node))
        own = {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
        node.body += [
            ast.copy_location(mirror(theirs, ours), node)
            for ours, theirs in _MIRRORED.items()
            if ours in own and theirs not in own
        ]
        return self._decorated(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    # -- statements

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        if node.cause is not None and node.exc is not None:
            node.exc, node.cause = call("_ls_from", node.exc, node.cause), None
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        self.generic_visit(node)
        for handler in node.handlers:
            if may_catch_memory_error(handler):
                handler.name = handler.name or "_ls_e"
                handler.type = handler.type or name("BaseException")
                check = ast.Expr(call("_ls_caught", name(handler.name)))
                handler.body.insert(0, ast.copy_location(check, handler.body[0]))
        if node.finalbody:
            node.body = [guarded(node.body)]
        return node

    def visit_TryStar(self, node: ast.AST) -> ast.AST:
        raise Lacking("`except*`", getattr(node, "lineno", None))

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        node.body = [guarded(node.body)]
        return node

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        self.generic_visit(node)
        node.body = [guarded(node.body)]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        self._made += 1
        lowered = match_statement(node, f"_ls_s{self._made}")
        for statement in lowered:
            ast.fix_missing_locations(statement)
        return cast("ast.AST", self.block(lowered))

    # -- expressions

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return joined([self._piece(value) for value in node.values])

    def _piece(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.FormattedValue):
            return node
        value = cast("ast.expr", self.visit(node.value))
        if node.conversion in (ord("r"), ord("a")):
            value = call("_ls_repr", value)
        elif node.conversion == ord("s"):
            value = call("_ls_str", value)
        if node.format_spec is None:
            return value if node.conversion == ord("r") else call("_ls_format", value)
        spec = cast("ast.JoinedStr", node.format_spec)
        return call("_ls_format", value, joined([self._piece(part) for part in spec.values]))

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        starred = None in node.keys
        parts: list[ast.expr] = []
        for key, value in zip(node.keys, node.values, strict=True):
            item = cast("ast.expr", self.visit(value))
            pair = [item] if key is None else [cast("ast.expr", self.visit(key)), item]
            kind = ast.List if key is None else ast.Tuple
            parts.append(kind(elts=pair, ctx=ast.Load()))
        return call("_ls_merge" if starred else "_ls_d", *parts)

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return self._display(node, node.elts) or node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        made = self._display(node, node.elts)
        return call("tuple", made) if made is not None else node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        made = self._display(node, node.elts)
        return call("set", made) if made is not None else node

    def _display(self, node: ast.expr, items: list[ast.expr]) -> ast.expr | None:
        """Return what makes a list of items, if some of them are starred."""
        loads = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if not loads or not any(isinstance(item, ast.Starred) for item in items):
            return None
        parts: list[ast.expr] = []
        for item in items:
            starred = isinstance(item, ast.Starred)
            value = item.value if isinstance(item, ast.Starred) else item
            parts.append(ast.Tuple([constant(starred), value], ast.Load()))
        return call("_ls_list", *parts)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        made = self._comprehension(node)
        return made if isinstance(made, ast.SetComp) else call("set", made)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        pairs = ast.copy_location(ast.ListComp(pair, node.generators), node)
        return call("_ls_dict", self._comprehension(pairs))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.expr:
        """Return a comprehension; one that awaits becomes a coroutine of its own."""
        if not awaits(node):
            return cast("ast.expr", self.generic_visit(node))
        if isinstance(node, ast.GeneratorExp):
            raise Lacking("generator expressions that await", node.lineno)
        self._made += 1
        own = f"_ls_c{self._made}"
        body: list[ast.stmt] = [
            ast.Expr(ast.Call(ast.Attribute(name("_ls_out"), "append", ast.Load()), [node.elt], []))
        ]
        first = node.generators[0]
        source = cast("ast.expr", self.visit(first.iter))
        first.iter = name("_ls_in")
        for generator in reversed(node.generators):
            for test in reversed(generator.ifs):
                body = [ast.If(test, body, [])]
            kind = ast.AsyncFor if generator.is_async else ast.For
            body = [kind(generator.target, generator.iter, body, [])]
        start: ast.stmt = ast.Assign([ast.Name("_ls_out", ast.Store())], ast.List([], ast.Load()))
        end: ast.stmt = ast.Return(name("_ls_out"))
        whole = [placed(statement, node) for statement in (start, *body, end)]
        function = ast.AsyncFunctionDef(
            own, no_arguments("_ls_in"), self.block(whole), [], lineno=node.lineno, col_offset=0
        )
        self._before.append(function)
        return ast.Await(call(own, source))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        loads = isinstance(node.ctx, ast.Load)
        if loads and node.attr in TEXT_METHODS and self._builtin(node.value, "str"):
            return call("_ls_of_str", constant(node.attr))
        self.generic_visit(node)
        if loads and node.attr in ("__cause__", "__context__"):
            return call("_ls_cause", node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left = node.left
        text = isinstance(left, ast.Constant) and isinstance(left.value, str)
        if isinstance(node.op, ast.Mod) and text:
            return call("_ls_percent", left, node.right)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and self._builtin(node.value, *_GENERIC):
            return node.value
        self.generic_visit(node)
        cut = node.slice
        if isinstance(cut, ast.Slice) and cut.step is not None and isinstance(node.ctx, ast.Load):
            ends = [end or constant(None) for end in (cut.lower, cut.upper, cut.step)]
            return call("_ls_slice", node.value, *ends)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        direct, later = node in self._direct, node in self._later
        marked = later or (self._aliased and node not in self._known and may_be_tool(node.func))
        if self._builtin(node.func, "isinstance", "issubclass") and len(node.args) == 2:
            node.args[1] = classes(node.args[1])
        known = self._builtin(node.func, *_BUILTINS)
        self.generic_visit(node)
        if known == "dict" and node.keywords:
            return dict_of(node)
        if known:
            node.func = name(_BUILTINS[known])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            node.func = call("_ls_m", node.func.value, constant(node.func.attr))
        elif marked:
            node.func = call("_ls_at", constant(getattr(node, "lineno", 0)), node.func)
        return call("_ls_now", node) if direct else node
