"""Runs of the pack's agents on scripted models, and what came of them.

A scripted model proves the wiring and the checks, not that a model finds the way.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineshaft.agents import AgentResult, Microagent
from lineshaft.errors import AgentError
from lineshaft.models import ModelReply, ModelRequest
from lineshaft.testing import ScriptedModel


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


Replies = list[ModelReply | Exception | Callable[[ModelRequest], ModelReply]]


async def ends(
    agent: Microagent[Any], replies: Replies, work: Path, **given: Any
) -> tuple[AgentResult[Any] | AgentError, ScriptedModel]:
    """Run an agent on a script of replies, which proves wiring and checks alone."""
    model = ScriptedModel(replies)
    try:
        return await agent.run(model=model, workspace=str(work), **given), model
    except AgentError as error:
        return error, model


def refusals(model: ScriptedModel) -> list[str]:
    """Return why results were not accepted, as the model was told."""
    told = [getattr(message, "text", "") for message in model.requests[-1].messages]
    start = "The result did not pass validation: "
    return [text.partition(start)[2] for text in told if start in text]
