"""The caller of a run: its approver, its answers to tools, its event sink."""

from collections.abc import Mapping

import msgspec

from lineshaft.values._calls import Approver, Origin
from lineshaft.values._context import Answerer, Askable, Elicit, Roots, Sample
from lineshaft.values._runs import Sink
from lineshaft.values._struct import Struct


class Caller(Struct, frozen=True, kw_only=True):
    """The side that one run belongs to: it answers what the run asks, and hears its events."""

    approver: Approver | None = None
    """Answers what policy asks. None, or an ask left open: the run pauses."""

    elicit: Elicit | None = None
    """Answers what tools ask a person; None: no person can be asked."""

    sample: Sample | None = None
    """Answers what tools ask a model; None: no model is offered."""

    roots: Roots | None = None
    """Gives tools the folders that the caller works in; None: none are given."""

    together: Answerer | None = None
    """Answers several questions of a tool at once; None: one after the other."""

    sink: Sink | None = None
    """Takes the events of this run, beside the sinks of the session."""

    origin: Origin = "code"
    """The way they came in, for policy, limits and record."""

    trace: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The trace that the run belongs to, for tools to continue: `traceparent`, `tracestate`,
    `baggage` (W3C Trace Context)."""

    @property
    def offers(self) -> frozenset[Askable]:
        """The kinds of question that tools may ask the caller."""
        ways: Mapping[Askable, object] = {
            "elicit": self.elicit,
            "sample": self.sample,
            "roots": self.roots,
        }
        return frozenset(kind for kind, way in ways.items() if way is not None)
