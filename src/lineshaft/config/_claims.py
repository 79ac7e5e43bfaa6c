"""A person's answers to the claims of servers about their tools.

A server may say that a tool only reads, or can be repeated. Such a claim is not proven, so it
counts only once a person has accepted it, for the tool as they saw it: every change of the claim
asks again, and leaves the other tools alone. What a server says may depend on its client,
so several forms of a tool may be accepted. Kept by the server's name and its definition, in one
0600 file of the state folder.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, cast, get_args

from lineshaft.config._files import changing, read_bytes
from lineshaft.config._found import approval_of
from lineshaft.config._secrets import replace_file
from lineshaft.config.definitions import ServerSetting
from lineshaft.errors import ConfigError
from lineshaft.files import private_folder, state_folder
from lineshaft.values import Effect, Struct

_FILE = "claims.json"
_MOST = 500
"""Servers whose answers are kept; the oldest go first."""

_MOST_FORMS = 16
"""Of one tool; the oldest go first."""

_MOST_BYTES = 16_000_000
"""Of the file: all forms of the tools of a few large servers. The oldest servers go first."""

ClaimsAnswer = Literal["accept", "external"] | Mapping[str, Effect]
"""All claims count, none do, or these effects by canonical name."""


class ClaimLike(Protocol):
    """The part of a claim that is kept."""

    @property
    def tool(self) -> str:
        """The canonical name."""
        ...

    @property
    def effect(self) -> Effect:
        """The effect that the server claims."""
        ...

    @property
    def sha256(self) -> str:
        """SHA-256 of the tool's definition, as the server gives it."""
        ...


Answered = bool | Mapping[str, Effect] | None


class KeptClaims(Struct, frozen=True, kw_only=True):
    """A person's answer about the claims of a server."""

    answer: ClaimsAnswer


def claims_for(
    server: ServerSetting,
    *,
    accept: bool = False,
    unanswered: Callable[[ServerSetting], None] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Callable[[Sequence[ClaimLike], str], Answered]:
    """Return what says which claims of a server count.

    Args:
        server: Whose claims.
        accept: A person accepted beforehand what is met first of this definition; later changes
            of it count as unanswered.
        unanswered: Called with the server where no answer came, so that no claim counts.
        environ: Variables that say where answers are kept.
    """

    def claims(claimed: Sequence[ClaimLike], catalogue: str) -> tuple[Answered, bool]:
        if server.claims is not None:
            return server.claims == "accept", True
        known = _known(server, claimed, catalogue, accept=accept, environ=environ)
        if all(each.effect == "external" for each in claimed):
            return False, True  # nothing is claimed that would make a difference
        new = [each for each in claimed if each.tool not in known]
        if all(each.effect == "external" for each in new):
            new = []
        return _counted(claimed, known, is_answered=not new), not new

    def safely(claimed: Sequence[ClaimLike], catalogue: str) -> Answered:
        try:
            answer, is_answered = claims(claimed, catalogue)
        except ConfigError:  # what cannot be read or kept does not count
            answer, is_answered = None, False
        if not is_answered and unanswered is not None:
            unanswered(server)
        return answer

    return safely


def _counted(
    claimed: Sequence[ClaimLike], known: Mapping[str, str], *, is_answered: bool
) -> Answered:
    """Return which claims count, as the maker of the tools takes it."""
    if all(known.get(each.tool) == "accept" for each in claimed):
        return True
    effects: dict[str, Effect] = {}
    for each in claimed:
        said = known.get(each.tool, "external")
        if said != "external":
            effects[each.tool] = each.effect if said == "accept" else cast("Effect", said)
    return effects or (False if is_answered else None)


def _known(
    server: ServerSetting,
    claimed: Sequence[ClaimLike],
    catalogue: str,
    *,
    accept: bool,
    environ: Mapping[str, str] | None,
) -> dict[str, str]:
    """Return the answers about tools as they are; what was given beforehand is bound to these."""
    if _beforehand(_entry(server, environ), catalogue, accept=accept) is not None:
        with changing(private_folder(state_folder(environ)) / _FILE):
            # Another process may have bound it meanwhile, or a person may have answered.
            first = _beforehand(_entry(server, environ), catalogue, accept=accept)
            if first is not None:
                # Also where nothing is claimed yet: what is claimed later is a change.
                _keep(server, first, claims=claimed, environ=environ)
                return _by_tool(first, claimed)
    forms = _forms(_entry(server, environ))
    found = {each.tool: forms.get(each.tool, {}).get(each.sha256) for each in claimed}
    return {tool: said for tool, said in found.items() if said is not None}


def _beforehand(
    entry: Mapping[str, object], catalogue: str, *, accept: bool
) -> ClaimsAnswer | None:
    """Return what was answered before the tools were seen; None: nothing."""
    if not entry:
        return "accept" if accept else None
    if entry.get("catalogue", "") not in ("", catalogue):
        return None  # of an earlier version, about other tools
    return _answer(entry.get("answer"))


def _by_tool(answer: ClaimsAnswer, claimed: Sequence[ClaimLike]) -> dict[str, str]:
    """Return what an answer says of each tool: `accept`, `external`, or another effect."""
    if isinstance(answer, str):
        return {each.tool: answer for each in claimed}
    return {each.tool: answer.get(each.tool, "external") for each in claimed}


def kept_claims(
    server: ServerSetting, *, environ: Mapping[str, str] | None = None
) -> KeptClaims | None:
    """Return what was answered for a server as it is described now; None: nothing.

    Raises:
        ConfigError: Answers, or a program of the project, cannot be read.
    """
    entry = _entry(server, environ)
    first = _answer(entry.get("answer"))
    if first is not None:
        return KeptClaims(answer=first)
    newest = {tool: list(forms.values())[-1] for tool, forms in _forms(entry).items() if forms}
    if not newest:
        return None
    for word in ("accept", "external"):
        if all(said == word for said in newest.values()):
            return KeptClaims(answer=cast("ClaimsAnswer", word))
    effects = get_args(Effect)
    return KeptClaims(
        answer={tool: cast("Effect", said) for tool, said in newest.items() if said in effects}
    )


def keep_claims(
    server: ServerSetting,
    answer: ClaimsAnswer,
    *,
    claims: Sequence[ClaimLike] = (),
    environ: Mapping[str, str] | None = None,
) -> None:
    """Remember what a person answered.

    Args:
        server: Whose claims.
        answer: All, none, or these effects.
        claims: What it is about; empty: the tools that are met first.
        environ: Variables that say where answers are kept.

    Raises:
        ConfigError: It cannot be kept.
    """
    with changing(private_folder(state_folder(environ)) / _FILE):
        _keep(server, answer, claims=claims, environ=environ)


def _keep(
    server: ServerSetting,
    answer: ClaimsAnswer,
    *,
    claims: Sequence[ClaimLike],
    environ: Mapping[str, str] | None,
) -> None:
    """Write an answer down, where nobody else changes the file meanwhile."""
    answers, key = dict(_read(environ)), _key(server)
    entry = _entry(server, environ)
    answers.pop(key, None)
    if claims:
        forms = _forms(entry)
        said = _by_tool(answer, claims)
        for each in claims:
            known = forms.setdefault(each.tool, {})
            known.pop(each.sha256, None)
            known[each.sha256] = said[each.tool]
            forms[each.tool] = dict(list(known.items())[-_MOST_FORMS:])
        answers[key] = {"tools": forms}
    else:
        answers[key] = {"answer": answer if isinstance(answer, str) else dict(answer)}
    newest = dict(list(answers.items())[-_MOST:])
    while len(text := json.dumps({"version": 2, "answers": newest}, indent=2)) >= _MOST_BYTES:
        del newest[next(iter(newest))]
    replace_file(state_folder(environ) / _FILE, text + "\n")


def _entry(server: ServerSetting, environ: Mapping[str, str] | None) -> Mapping[str, object]:
    found = _read(environ).get(_key(server))
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _forms(entry: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Return the answers about each form of each tool, by the hash of what was said of it."""
    tools = entry.get("tools")
    if not isinstance(tools, dict):
        return {}
    allowed = ("accept", "external", *get_args(Effect))
    return {
        tool: {sha256: str(said) for sha256, said in _table(forms).items() if said in allowed}
        for tool, forms in cast("dict[str, object]", tools).items()
    }


def _table(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _key(server: ServerSetting) -> str:
    return f"{server.name}::{approval_of(server).sha256}"


def _answer(said: object) -> ClaimsAnswer | None:
    if isinstance(said, str):
        return cast("ClaimsAnswer", said) if said in ("accept", "external") else None
    if not isinstance(said, dict):
        return None
    table = cast("dict[str, object]", said)
    return {
        name: cast("Effect", effect) for name, effect in table.items() if effect in get_args(Effect)
    }


def _read(environ: Mapping[str, str] | None) -> Mapping[str, object]:
    path = state_folder(environ) / _FILE
    if not os.path.lexists(path):
        return {}
    try:
        content = cast("object", json.loads(read_bytes(path, limit=_MOST_BYTES)))
    except (ValueError, RecursionError):
        content = None
    answers = (
        cast("dict[str, object]", content).get("answers") if isinstance(content, dict) else None
    )
    if not isinstance(answers, dict):
        raise ConfigError(f"{str(path)!r} holds no answers", hint="delete it and answer again")
    return cast("dict[str, object]", answers)
