"""Takes secrets that are written out out of a server's definition, and puts variables there."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from msgspec import field
from msgspec.structs import replace

from lineshaft.config._secrets import holds_secret, is_token
from lineshaft.config.definitions.definition import ServerSetting
from lineshaft.values import Struct, lazy_pattern, looks_secret

_SCHEME = lazy_pattern(r"(?:bearer|basic|token)\s+", re.IGNORECASE)
_HEADER = lazy_pattern(r"([A-Za-z][A-Za-z0-9-]*):\s*(?=\S)")
_RANDOM = lazy_pattern(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_=+-]{20,}")


def looks_random(text: str) -> bool:
    """Return whether a part of an address looks like a key rather than a name."""
    return is_token(text) or _RANDOM().fullmatch(text) is not None


class Literals(Struct, kw_only=True):
    """The secrets of one server, by the variables that stand for them from now on."""

    __unshown__ = frozenset({"taken"})

    server: str
    project: str = ""
    """The project whose file it is; none of its secrets gets a name that others may ask for."""

    environ: Mapping[str, str]
    kept: Mapping[str, str]
    """Secrets in our keeping."""

    taken: dict[str, str] = field(default_factory=dict[str, str])

    def out_of(self, server: ServerSetting) -> ServerSetting:
        """Return the server without secrets that are written out."""
        return replace(
            server,
            env={name: self._value(name, text) for name, text in server.env.items()},
            headers={
                name: self._value(name, text, own=False) for name, text in server.headers.items()
            },
            args=tuple(self._words(server.args)),
            url=self._url(server.url),
            auth=server.auth
            if isinstance(server.auth, str)
            else {name: self._value(name, text, own=False) for name, text in server.auth.items()},
        )

    def _value(self, name: str, text: str, *, own: bool = True) -> str:
        """Return a value, or a variable in its place.

        Args:
            name: What it is the value of.
            text: As it is written.
            own: Whether the name is a variable's own.
        """
        if not holds_secret(name, text):
            return text
        scheme = _SCHEME().match(text)
        start = scheme[0] if scheme else ""
        return start + self._variable(name, text[len(start) :], own=own)

    def _variable(self, name: str, secret: str, *, own: bool) -> str:
        plain = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_") or "SECRET"
        named = f"MCP_{self.project}_{self.server}" if self.project else self.server
        prefix = re.sub(r"[^A-Z0-9]+", "_", named.upper())
        for candidate in _candidates(plain, prefix, own=own and not self.project):
            if all(
                held.get(candidate, secret) == secret
                for held in (self.environ, self.kept, self.taken)
            ):
                self.taken[candidate] = secret
                return f"${{{candidate}}}"
        raise AssertionError("candidates do not end")

    def _words(self, words: tuple[str, ...]) -> Iterator[str]:
        option = ""
        for word in words:
            name, sign, value = word.partition("=")
            header = _HEADER().match(word)
            if option and not word.startswith("-"):
                yield self._value(option, word, own=False)
            elif sign and holds_secret(name, value):
                yield f"{name}={self._value(name, value, own=not name.startswith('-'))}"
            elif header is not None and "://" not in word[: header.end() + 2]:
                yield header[0] + self._value(header[1], word[header.end() :], own=False)
            elif "://" in word:
                yield self._url(word)
            else:
                yield self._variable("key", word, own=False) if is_token(word) else word
            option = word if word.startswith("-") and not sign and looks_secret(word) else ""

    def _url(self, url: str) -> str:
        try:
            parts = urlsplit(url)
        except ValueError:
            return url
        login = parts.netloc.rpartition("@")[0]
        if login and "${" not in login:
            variable = self._variable("login", login, own=False)
            url = url.replace(f"//{login}@", f"//{variable}@", 1)
        for part in parts.path.split("/"):
            if looks_random(part):
                url = url.replace(part, self._variable("path", part, own=False), 1)
        for pair in parts.query.split("&"):
            name, _, value = pair.partition("=")
            if holds_secret(name, value) or looks_random(value):
                variable = self._variable(name, value, own=False)
                url = url.replace(pair, f"{name}={variable}", 1)
        return url


def _candidates(plain: str, prefix: str, *, own: bool) -> Iterator[str]:
    if own and not plain[0].isdigit():
        yield plain
    longer = plain if plain.startswith(f"{prefix}_") else f"{prefix}_{plain}"
    longer = longer if not longer[0].isdigit() else f"_{longer}"
    yield longer
    number = 2
    while True:
        yield f"{longer}_{number}"
        number += 1
