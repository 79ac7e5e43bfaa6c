"""The commit of an agent's changes: a call of its own, as a resume must not decide it again."""

from typing import Any

from lineshaft.errors import ToolError
from lineshaft.tools import Tool
from lineshaft.values import COMMIT, Call, Context, Failure


class Commits:
    """Makes the changes of agents those of what stands around them."""

    def __init__(self) -> None:
        self._live: dict[str, Context] = {}

        async def commit_changes(*, conversation: str) -> bool:
            """Make the changes of an agent those of the run around it.

            Args:
                conversation: Names the agent's call.

            Returns:
                Whether there were any.
            """
            context = self._live.pop(conversation, None)
            if context is None:
                raise ToolError("E_DENIED", "only the loop of a microagent commits its changes")
            return await context.commit()

        self.tool: Tool[..., Any] = Tool.from_function(
            commit_changes, effect="read", scriptable=False
        )
        """Commits, as a call of the gate."""

    async def commit(self, context: Context) -> None:
        """Commit the changes of an agent, if it made any.

        Args:
            context: Of its call.

        Raises:
            ToolError: A guard found an error, or a file was changed meanwhile; nothing was
                committed.
        """
        if not context.uncommitted():
            return
        key = context.key
        self._live[key] = context
        try:
            call = Call(tool=COMMIT, arguments={"conversation": key}, origin="agent")
            done = await context.dispatch(call)
        finally:
            self._live.pop(key, None)
        if isinstance(done, Failure):
            raise ToolError(done.code, done.message, hint=done.hint)
