"""Full Python without a jail, for tests of the choice: runs a script in this process."""

import ast
from collections.abc import Awaitable, Callable
from typing import cast

from lineshaft.errors import ToolError
from lineshaft.values import (
    Call,
    Dispatch,
    Failure,
    Limits,
    Outcome,
    Output,
    Pauses,
    Program,
    Raised,
    Returned,
    Waiting,
)


class Full:
    """Stands in for the engine `cpython`."""

    def __init__(self) -> None:
        self.scripts: list[str] = []
        """What it was given to run."""

        self.closed = False

    @property
    def name(self) -> str:
        """As the real one."""
        return "cpython"

    @property
    def interprets(self) -> bool:
        """It does."""
        return True

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause."""
        return "never"

    async def ready(self) -> None:
        """Do nothing: it is."""

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
        resume: bytes | None = None,
    ) -> Outcome:
        """Run a script."""
        self.scripts.append(program.source)
        scope: dict[str, object] = {name: _tool(name, dispatch) for name in program.tools}

        def say(text: object) -> None:
            output("stdout", f"{text}\n")

        scope |= {"ToolError": ToolError, "print": say}
        tree = ast.parse("async def script():\n pass")
        body = ast.parse(program.source).body
        if isinstance(body[-1], ast.Expr):
            body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
        function = tree.body[0]
        assert isinstance(function, ast.AsyncFunctionDef)
        function.body = body
        exec(compile(ast.fix_missing_locations(tree), program.name, "exec"), scope)  # noqa: S102  a test's script
        script = cast("Callable[[], Awaitable[object]]", scope["script"])
        try:
            return Returned(value=await script())
        except ToolError as error:
            return Raised(kind="ToolError", message=error.message, code=error.code)
        except Exception as error:  # noqa: BLE001  the script's own
            return Raised(kind=type(error).__name__, message=str(error))

    async def aclose(self) -> None:
        """Take note."""
        self.closed = True


def _tool(name: str, dispatch: Dispatch) -> Callable[..., object]:
    async def call(*positional: object, **arguments: object) -> object:
        made = Call(
            tool=name, arguments=arguments, positional=positional, origin="script", id=f"{name}-1"
        )
        done = await dispatch(made)
        if isinstance(done, Failure):
            raise ToolError(done.code, done.message, tool=name)
        return done.value

    return call
