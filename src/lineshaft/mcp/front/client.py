"""Clients of a front, in any protocol, and their answers."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import field

from lineshaft.values import Askable, ShownImage, Struct

AskedWhen = Literal["at once", "later", "never"]
"""How a client is asked: by a request in the middle of a call (older protocol), by an answer that
the client comes back from (newest), or not at all."""

FormAction = Literal["accept", "decline", "cancel"]


class Form(Struct, frozen=True):
    """A form that a person is asked to fill in."""

    message: str
    schema: Mapping[str, object]
    """An object with flat members: what clients can show as a form."""

    @property
    def kind(self) -> Askable:
        """The capability that a client needs to be asked this."""
        return "elicit"


class ClientQuestion(Struct, frozen=True):
    """A question to the client itself: for its model, or its roots."""

    kind: Literal["sample", "roots"]
    params: Mapping[str, object] = field(default_factory=dict[str, object])
    """As the protocol has them."""


class FilledForm(Struct, frozen=True):
    """The answer of a person to a form."""

    action: FormAction
    content: Mapping[str, object] = field(default_factory=dict[str, object])


class ClientAnswer(Struct, frozen=True):
    """The answer of the client itself, as the protocol has it."""

    value: Mapping[str, object]


Question = Form | ClientQuestion
Said = FilledForm | ClientAnswer


Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The weight of a line for the log, the least first."""


class Note(Struct, frozen=True, kw_only=True):
    """One thing that happened in a run under way."""

    text: str
    log: bool = False
    """A line for the log, and not progress."""

    level: Level = "info"
    """Of a line for the log."""

    done: float | None = None
    """As a tool said it."""

    total: float | None = None


class Client(Protocol):
    """The client of one request."""

    @property
    def reach(self) -> AskedWhen:
        """How they can be asked for what they offer."""
        ...

    @property
    def offers(self) -> frozenset[Askable]:
        """The kinds of question that the client answers; none where it cannot be reached."""
        ...

    @property
    def asks(self) -> AskedWhen:
        """How their person can be asked."""
        ...

    @property
    def trace(self) -> Mapping[str, str]:
        """The trace that the request belongs to."""
        ...

    @property
    def state(self) -> str:
        """The state that the client came back with; empty at its first request."""
        ...

    @property
    def said(self) -> Mapping[str, Said]:
        """The answers they come back with, by key."""
        ...

    async def ask(self, question: Question) -> Said:
        """Ask at once; a person who cannot be asked has cancelled.

        Raises:
            ToolError: `E_DENIED`: the client would not answer what it offers.
        """
        ...

    async def tell(self, note: Note) -> None:
        """Pass on what happens while they wait."""
        ...


class ToolReply(Struct, frozen=True, kw_only=True):
    """The end of a call."""

    text: str
    run: Mapping[str, Any] | None = None
    """How a run went, for programs; a client hands it to no model."""

    structured: Any = None
    """Of a tool that was called directly: its value as an object, where it is short enough."""

    is_error: bool = False
    value: Any = None
    """Of a tool that was called directly: what it gave, of which `text` is the short form."""

    direct: bool = False
    images: tuple[ShownImage, ...] = ()
    """What a script showed to its model."""


class Asked(Struct, frozen=True, kw_only=True):
    """The client is to come back with answers to these."""

    questions: Mapping[str, Question]
    state: str


class UnknownTool(LookupError):
    """There is no such tool, or none that this client may call by name."""
