"""A person's answers to the claims of servers about their tools.

A server may say that a tool only reads, or can be repeated. Such a claim is not proven, so it
counts only once a person has accepted it, for the catalogue that they saw: every change of it asks
again. Kept by the server's name and its definition, in one 0600 file of the state folder.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast, get_args

from lineshaft.config._files import read_bytes
from lineshaft.config._found import approval_of
from lineshaft.config._secrets import replace_file
from lineshaft.config.definitions import ServerSetting
from lineshaft.errors import ConfigError
from lineshaft.store import private_folder, state_folder
from lineshaft.values import Effect

_FILE = "claims.json"
_MOST = 500
"""Answers that are kept; the oldest go first."""

ClaimsAnswer = Literal["accept", "external"] | Mapping[str, Effect]
"""All claims count, none do, or these effects by canonical name."""


class ClaimLike(Protocol):
    """What is needed of a claim here."""

    @property
    def tool(self) -> str:
        """The canonical name."""
        ...

    @property
    def effect(self) -> Effect:
        """What the server says."""
        ...


Answered = bool | Mapping[str, Effect] | None
AskClaims = Callable[[ServerSetting, Sequence[ClaimLike]], ClaimsAnswer | None]
"""Ask a person about the claims of one server; None: no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptClaims:
    """One answer."""

    answer: ClaimsAnswer
    catalogue: str
    """The hash of the catalogue that it is about; empty: of the first that is met."""


def claims_for(
    server: ServerSetting,
    *,
    accept: bool = False,
    ask: AskClaims | None = None,
    unanswered: Callable[[ServerSetting], None] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Callable[[Sequence[ClaimLike], str], Answered]:
    """Return what says which claims of a server count.

    Args:
        server: Whose claims.
        accept: A person accepted beforehand what is met first of this definition; later changes
            of it count as unanswered.
        ask: Asks about a catalogue that has no answer yet; None: no person can be asked.
        unanswered: Called with the server where no answer came, so that no claim counts.
        environ: Variables that say where answers are kept.
    """

    def claims(claimed: Sequence[ClaimLike], catalogue: str) -> Answered:
        if server.claims is not None:
            return server.claims == "accept"
        answer = _answered(server, catalogue, accept=accept, environ=environ)
        if all(claim.effect == "external" for claim in claimed):
            return False  # nothing is claimed that would make a difference
        if answer is None and ask is not None:
            answer = ask(server, claimed)
            if answer is not None:
                keep_claims(server, answer, catalogue=catalogue, environ=environ)
        return answer == "accept" if isinstance(answer, str) else answer

    def safely(claimed: Sequence[ClaimLike], catalogue: str) -> Answered:
        try:
            answer = claims(claimed, catalogue)
        except ConfigError:  # what cannot be read or kept does not count
            answer = None
        if answer is None and unanswered is not None:
            unanswered(server)
        return answer

    return safely


def _answered(
    server: ServerSetting, catalogue: str, *, accept: bool, environ: Mapping[str, str] | None
) -> ClaimsAnswer | None:
    """Return the answer about a catalogue; what was given beforehand is bound to this one."""
    kept = kept_claims(server, environ=environ)
    if kept is None and accept:
        kept = KeptClaims(answer="accept", catalogue="")
    if kept is None or kept.catalogue not in ("", catalogue):
        return None
    if not kept.catalogue:
        # Also where nothing is claimed yet: what is claimed later is a change.
        keep_claims(server, kept.answer, catalogue=catalogue, environ=environ)
    return kept.answer


def kept_claims(
    server: ServerSetting, *, environ: Mapping[str, str] | None = None
) -> KeptClaims | None:
    """Return what was answered for a server as it is described now.

    Raises:
        ConfigError: Answers, or a program of the project, cannot be read.
    """
    kept = _read(environ).get(_key(server))
    if not isinstance(kept, dict):
        return None
    table = cast("dict[str, object]", kept)
    answer, catalogue = _answer(table.get("answer")), table.get("catalogue")
    if answer is None or not isinstance(catalogue, str):
        return None
    return KeptClaims(answer=answer, catalogue=catalogue)


def keep_claims(
    server: ServerSetting,
    answer: ClaimsAnswer,
    *,
    catalogue: str = "",
    environ: Mapping[str, str] | None = None,
) -> None:
    """Remember what a person answered.

    Args:
        server: Whose claims.
        answer: All, none, or these effects.
        catalogue: The hash of the catalogue; empty: the first that is met.
        environ: Variables that say where answers are kept.

    Raises:
        ConfigError: It cannot be kept.
    """
    folder = private_folder(state_folder(environ))
    answers, key = dict(_read(environ)), _key(server)
    answers.pop(key, None)
    said = answer if isinstance(answer, str) else dict(answer)
    answers[key] = {"answer": said, "catalogue": catalogue}
    newest = dict(list(answers.items())[-_MOST:])
    text = json.dumps({"version": 1, "answers": newest}, indent=2)
    replace_file(folder / _FILE, text + "\n", folder=folder)


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
        content = cast("object", json.loads(read_bytes(path)))
    except (ValueError, RecursionError):
        content = None
    answers = (
        cast("dict[str, object]", content).get("answers") if isinstance(content, dict) else None
    )
    if not isinstance(answers, dict):
        raise ConfigError(f"{str(path)!r} holds no answers", hint="delete it and answer again")
    return cast("dict[str, object]", answers)
