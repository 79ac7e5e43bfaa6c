"""Who is behind a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineshaft.values._calls import Approver, Origin
from lineshaft.values._context import Answerer, Askable, Elicit, Roots, Sample
from lineshaft.values._runs import Sink


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is behind one run: answers what it asks, and hears what happens in it."""

    approver: Approver | None = None
    """Answers what policy asks; None, or what it leaves open: the run is paused."""

    elicit: Elicit | None = None
    """Answers what tools ask a person; None: nobody can be asked."""

    sample: Sample | None = None
    """Answers what tools ask a model; None: no model is offered."""

    roots: Roots | None = None
    """Tells tools the folders that they work in; None: nobody tells."""

    together: Answerer | None = None
    """Answers all that a tool asks at once, of what is offered; None: one after the other."""

    sink: Sink | None = None
    """Takes the events of this run, beside the sinks of the session."""

    origin: Origin = "code"
    """The way they came in, for policy, limits and record."""

    trace: Mapping[str, str] = field(default_factory=dict[str, str])
    """The trace that the run belongs to, for tools to continue: `traceparent`, `tracestate`,
    `baggage` (W3C Trace Context)."""

    @property
    def offers(self) -> frozenset[Askable]:
        """What tools may ask them for."""
        ways: Mapping[Askable, object] = {
            "elicit": self.elicit,
            "sample": self.sample,
            "roots": self.roots,
        }
        return frozenset(kind for kind, way in ways.items() if way is not None)
