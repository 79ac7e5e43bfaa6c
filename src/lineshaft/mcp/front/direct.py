"""The tools of a session that a client may call without a script."""

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import Any

from lineshaft.mcp.client import canonical
from lineshaft.session import Session
from lineshaft.tools import model_name, published
from lineshaft.values import ToolSpec

_VALID = re.compile(r"[A-Za-z0-9._-]{1,128}")
"""A name that the protocol has room for."""


class Direct:
    """Those that were chosen, as they are at each moment.

    Args:
        session: Has the tools.
        globs: Names and globs of those that are chosen.
        passed: A namespace; all of its tools are chosen, under the names that they have in it.
    """

    def __init__(self, session: Session, *, globs: Sequence[str], passed: str) -> None:
        self._session = session
        self._globs = tuple(globs)
        self._passed = passed

    @property
    def wanted(self) -> bool:
        """Whether any are to be had."""
        return bool(self._globs or self._passed)

    def reaches(self, spec: ToolSpec) -> bool:
        """Return whether a tool may be called without a script."""
        if self._passed and spec.namespace == self._passed:
            return True
        return any(_fits(spec, glob) for glob in self._globs)

    def may_have(self, namespace: str) -> bool:
        """Return whether tools of a namespace may be among them, whatever they are."""
        return namespace == self._passed or any(_may_fit(namespace, each) for each in self._globs)

    @property
    def idle_globs(self) -> tuple[str, ...]:
        """The globs that fit no tool there is now."""
        specs = self._session.specs()
        return tuple(glob for glob in self._globs if not any(_fits(spec, glob) for spec in specs))

    def spec(self, name: str) -> ToolSpec | None:
        """Return the tool that is called by a name, listed or closed by policy."""
        found = (s for s in self._session.specs() if self.reaches(s))
        return next((spec for spec in found if self._listed(spec) == name), None)

    def closed(self, name: str) -> ToolSpec | None:
        """Return the tool of a name that policy closes to clients: a call of it is refused there.

        Args:
            name: As it would be listed, or canonical.
        """
        told = {spec.name for spec in self._session.open_to("mcp")}
        closed = (spec for spec in self._session.specs() if spec.name not in told)
        return next((s for s in closed if name in (s.name, self._listed(s))), None)

    def provider_of(self, name: str) -> str:
        """Return a text that names the source which a name may belong to, to wait for it."""
        return self._passed or name.partition("__")[0] or name

    def definitions(self, *, without: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return them as `tools/list` tells them; names that are taken are left out."""
        taken = set(without)
        found: list[dict[str, Any]] = []
        for spec in self._session.open_to("mcp"):
            if self.reaches(spec) and (name := self._listed(spec)) not in taken:
                taken.add(name)
                found.append(_definition(name, spec))
        return found

    def _listed(self, spec: ToolSpec) -> str:
        if not (self._passed and spec.namespace == self._passed):
            return model_name(spec.name)
        own = spec.own_name
        is_own = canonical(self._passed, own) == spec.name  # it was not renamed here
        if is_own and _VALID.fullmatch(own):
            return own
        return spec.name.removeprefix(f"{self._passed}.")


def _fits(spec: ToolSpec, glob: str) -> bool:
    """Return whether a tool is meant by a glob, also over what its server calls it."""
    own = f"{spec.namespace}.{spec.own_name}" if spec.own_name else spec.name
    return fnmatchcase(spec.name, glob) or fnmatchcase(own, glob)


def _may_fit(namespace: str, glob: str) -> bool:
    """Return whether a glob may mean tools of a namespace."""
    start, sure = f"{namespace}.", re.split(r"[*?\[]", glob, maxsplit=1)[0]
    return start.startswith(sure) or sure.startswith(start)


def _definition(name: str, spec: ToolSpec) -> dict[str, Any]:
    takes = published(spec)
    hints = _said(spec) if spec.own_name else _known(spec)
    return {
        "name": name,
        **({"title": spec.hints["title"]} if "title" in spec.hints else {}),
        "description": takes.description,
        "inputSchema": takes.schema,
        **({"annotations": hints} if hints else {}),
    }


def _said(spec: ToolSpec) -> dict[str, Any]:
    """Return what a server says of its tool; that it only reads, where that is believed."""
    kept = ("readOnlyHint", "title")
    others = {name: value for name, value in spec.hints.items() if name not in kept}
    if spec.effect == "read":
        return {"readOnlyHint": True, **others}
    return {"readOnlyHint": False, **others} if "readOnlyHint" in spec.hints else others


def _known(spec: ToolSpec) -> dict[str, Any]:
    hints: dict[str, Any] = {"readOnlyHint": spec.effect == "read"}
    if spec.effect != "read":
        hints |= {"destructiveHint": spec.destructive, "idempotentHint": spec.idempotent}
    return {**hints, "openWorldHint": spec.effect in ("exec", "external")}
