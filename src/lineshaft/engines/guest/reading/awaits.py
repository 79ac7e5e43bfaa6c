"""The repair of forgotten `await`s: one rule for all engines, by reading.

The rule, in the words of the tests: a call that has to be awaited, stands unawaited in an async
context and is used as a value there gets its `await`; so does one that is assigned to a name,
unless the name is awaited, given to asyncio or put in a collection. A `def` with such a call
becomes `async def` where all its uses are direct calls. What cannot be repaired is a remark.
"""

import ast
from dataclasses import dataclass, field

from .definitions import WITHOUT_CALL, Defs, waiting_nodes
from .edits import Edits, SourceText
from .insertion import Inserter
from .key_functions import key_functions
from .places import KEEPING, Places, goes_over_async
from .references import Reference, Resolver
from .remarks import Remark
from .scopes import Outline
from .unawaitable import instead_of

_WORDS: dict[type[ast.AST], str] = {ast.Await: "await", ast.AsyncWith: "async with"}


@dataclass(slots=True)
class Awaits:
    """The effects of the rule on one script."""

    defs: Defs
    inserter: Inserter
    remarks: list[Remark] = field(default_factory=list[Remark])
    handled: set[ast.AST] = field(default_factory=set[ast.AST])
    """Lambdas that a remark already speaks of."""

    @classmethod
    def of(cls, resolver: Resolver, text: SourceText) -> "Awaits":
        """Apply the rule to a script."""
        outline = resolver.outline
        places = Places(resolver)
        defs = Defs.of(places)
        awaits = cls(defs, Inserter(places, Edits(text), defs.sites))
        awaits._look_at_key_functions()
        for node in waiting_nodes(outline):
            awaits._look_at_waiting(node)
        for call in outline.calls:
            if awaits.defs.is_waiting(call):
                awaits._look_at(call)
        for function in awaits.defs.converted:
            if isinstance(function, ast.FunctionDef):
                awaits.inserter.make_async(function)
        awaits.inserter.make_lists()
        awaits.remarks.sort(key=lambda r: (r.line, r.column))
        return awaits

    @property
    def _outline(self) -> Outline:
        return self.defs.places.resolver.outline

    @property
    def _text(self) -> SourceText:
        return self.inserter.edits.text

    def _look_at_key_functions(self) -> None:
        for call, function, hint in key_functions(self.defs, self._text):
            name = self._text.short(call.func)
            message = f"`{name}` cannot wait for what `{self._text.short(function)}` gives"
            self._report(function, message, hint)
            self.handled.add(function)

    def _look_at_waiting(self, node: ast.expr | ast.stmt) -> None:
        """Report what stands in code that is not async."""
        if isinstance(node, ast.Await):
            self.inserter.waited.append(node)
        context = self.defs.context(node)
        if self.defs.can_wait(context) or self.defs.is_in_async_iterator(node):
            return
        word = _WORDS.get(type(node), "async for")
        if isinstance(context, ast.FunctionDef):
            message = f"`{word}` in `def {context.name}`, which is not async"
            self._report(node, message, self._instead_of(context))
        elif isinstance(self._outline.scope(node).node, ast.GeneratorExp):
            return  # that is async by itself
        elif isinstance(context, ast.ClassDef):
            message = f"`{word}` in the body of `class {context.name}`, which cannot wait"
            self._report(node, message, f"put what has the `{word}` before the class")
        elif context not in self.handled:
            hint = f"write `async def name(...)` with the `{word}` in it, and await its call"
            self._report(node, f"`{word}` in a lambda, which cannot wait", hint)

    def _look_at(self, call: ast.Call) -> None:
        """Repair or report one call that has to be awaited."""
        context = self.defs.context(call)
        place = self.defs.places.of(call)
        above = self._outline.above(call)
        if goes_over_async(above) and above.iter is call:
            source, target = self._text.short(call), self._text.short(above.target)
            message = f"`{source}` gives a result, which `async for` cannot go over"
            end = ":" if isinstance(above, ast.AsyncFor) else ""
            self._report(call, message, f"write `for {target} in await {source}{end}`")
        elif not self.defs.can_wait(context):
            if self.defs.uses_result(call) and context not in self.handled:
                self._report_stuck(call, context)
        elif self.defs.must_wait(call):
            self.inserter.insert(call)
        elif place == "kept" and isinstance(context, ast.Module) and self._leaves(call):
            name = self._text.short(call.func)
            self._report(
                call,
                f"the script's value holds calls of `{name}` that nothing awaits",
                f"put `await` before `{name}(...)`, "
                "or `await asyncio.gather(*[...])` around the list of calls",
            )

    def _report_stuck(self, call: ast.Call, context: ast.AST) -> None:
        """Report a call that is used as a value where no `await` can stand."""
        name = self._text.short(call.func)
        message = f"`{name}(...)` is not awaited"
        if isinstance(context, ast.FunctionDef):
            reason = self.defs.blocked.get(context, "")
            message += f", and `{context.name}` cannot be made async: {reason}"
            self._report(call, message, self._instead_of(context))
        elif isinstance(context, ast.Lambda):
            message += ", and a lambda cannot wait"
            hint = f"write `async def name(...)` with `await {name}(...)` in it, and await its call"
            self._report(call, message, hint)
        else:
            message += ", and a class body cannot wait"
            self._report(call, message, f"do `await {name}(...)` before the class")

    def _instead_of(self, function: ast.FunctionDef) -> str:
        passed_on = self.defs.blocked.get(function, "").startswith(WITHOUT_CALL)
        return instead_of(function, self._outline, called=not passed_on)

    def _leaves(self, node: ast.AST) -> bool:
        """Return whether a call goes, in collections only, into the script's value."""
        above = self._outline.above(node)
        while isinstance(above, (*KEEPING, ast.keyword)) or self._is_dict(above):
            node, above = above, self._outline.above(above)
        if isinstance(above, ast.Return):
            return True
        return isinstance(above, ast.Expr) and self._outline.tree.body[-1] is above

    def _is_dict(self, node: ast.AST) -> bool:
        """Return whether a node is as a display: `dict(a=f())` is as `{"a": f()}`."""
        ref = self.defs.places.resolver.ref(node.func) if isinstance(node, ast.Call) else None
        return ref == Reference("builtin", "dict")

    def _report(self, node: ast.expr | ast.stmt, message: str, hint: str) -> None:
        line, column = self._text.position(node.lineno, node.col_offset)
        remark = Remark(code="not-awaited", message=message, line=line, column=column, hint=hint)
        self.remarks.append(remark)
