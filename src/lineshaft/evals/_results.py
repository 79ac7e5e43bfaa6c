"""The result of one run of one task: a line of the log of a sweep."""

from typing import Literal

from lineshaft.values import Struct

CellOutcome = Literal["pass", "fail", "limit", "invalid"]
"""`pass`: the checker gave the whole score. `fail`: less, or the agent asked, gave up or broke.
`limit`: a budget was used up. `invalid`: the harness, the provider or the disk failed, which says
nothing of the variant."""

TaskKind = Literal["win", "neutral", "lose"]
"""Whether a script is expected to help, not to matter, or to cost. Kinds are judged apart."""


class CellResult(Struct, frozen=True, kw_only=True):
    """How one cell of a sweep ended: one task, with one variant, once."""

    key: str
    """Digest of all that the cell depends on."""

    task: str
    """The task's name."""

    task_digest: str = ""
    """Of prompt, files, tools, checker and limits: arms are compared where it is the same."""

    kind: TaskKind
    """The kind of the task."""

    variant: str
    """The variant's name, such as `script=on`."""

    repeat: int
    """From 1."""

    outcome: CellOutcome
    """How it ended."""

    score: float = 0.0
    """Of the checker, from 0 to 1."""

    reason: str = ""
    """Why it did not pass; the checker's remark where it did. Secrets are redacted."""

    stuck: str = ""
    """Why the agent got stuck: the code of what ended it; empty where it came to an end."""

    turns: int = 0
    """Replies of the model."""

    calls: int = 0
    """Calls of tools that the model wrote; a script is one."""

    script_calls: int = 0
    """Calls that scripts made."""

    input_tokens: int = 0
    """Tokens of all requests."""

    output_tokens: int = 0
    """Tokens of all replies."""

    cached_tokens: int = 0
    """Of `input_tokens`, those that the provider had from before."""

    tokens_by: str = ""
    """Who counted: `provider`, or the name of the tokeniser."""

    cost: float | None = None
    """US dollars by the plan's prices; None: there is no price."""

    bytes_kept: int = 0
    """Bytes of results that scripts read and the model did not."""

    wall_seconds: float = 0.0
    """Seconds that its agent worked."""

    model_seconds: float = 0.0
    """Of `wall_seconds`, those in which the model was waited for."""

    wasted_tokens: int = 0
    """Input and output tokens of earlier attempts at this cell that were killed."""

    wasted_seconds: float = 0.0
    """Wall time of those attempts, as far as it is known."""

    scripted: bool = False
    """Whether a scripted policy acted, and no model."""

    bundle: str = ""
    """Folder of the conversation, the scripts and the diff, below the sweep's."""
