"""Access of a program in a jail to the files of the workspace."""

from collections.abc import Callable

from msgspec.structs import replace

from lineshaft.policy._judge import BY_MODE, judge, touched_by_builtins
from lineshaft.policy._policy import Policy
from lineshaft.policy._subject import Subject
from lineshaft.values import Reach, ToolSpec, Verdict

_READ = ToolSpec(name="read_file", effect="read")
_WRITE = ToolSpec(name="write_file", effect="write")


def reach(policy: Policy, subject: Subject) -> Callable[[str], Reach]:
    """Return the access of a permitted call's program to each path, which is not asked about later.

    A path is open only where no rule objects, neither to the call itself naming that path nor to
    `read_file` and `write_file` of it: a program is no way around rules about those. The permission
    for the call settles asks of the mode, and asks of the rule that was asked about already.

    Args:
        policy: The policy that permitted the call.
        subject: The call.
    """
    asked = judge(policy, subject)

    def passes(spec: ToolSpec, path: str) -> bool:
        call = subject.call
        if spec is _READ or spec is _WRITE:
            call = replace(call, tool=spec.name, arguments={"path": path}, positional=())
        said = judge(policy, replace(subject, spec=spec, call=call, paths=(path,)))
        return said.kind == "allow" or (said.kind == "ask" and _settled(said, asked))

    own = subject.spec or _WRITE
    own_reading = replace(own, effect="read")

    def look(path: str) -> Reach:
        if not (passes(own_reading, path) and passes(_READ, path)):
            return "hidden"
        return "open" if passes(own, path) and passes(_WRITE, path) else "readonly"

    if _speaks_of_paths(policy):
        return look
    elsewhere = look("a")
    return lambda path: look(path) if touched_by_builtins(path) else elsewhere


def _settled(said: Verdict, asked: Verdict) -> bool:
    return said.rule.startswith(BY_MODE) or (asked.kind == "ask" and said.rule == asked.rule)


def _speaks_of_paths(policy: Policy) -> bool:
    """Return whether some rule may give different verdicts for different paths."""
    layers = policy.layers or (policy,)
    rules = (rule for layer in layers for rule in layer.rules)
    return bool(layers[0].moved) or any(rule.path or rule.arguments for rule in rules)
