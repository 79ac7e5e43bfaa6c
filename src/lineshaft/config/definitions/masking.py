"""Display of servers, without parts that may be secret."""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from lineshaft.config._secrets import holds_secret, is_token, without_tokens
from lineshaft.config.definitions.definition import ServerSetting
from lineshaft.config.definitions.literals import looks_random
from lineshaft.values import lazy_pattern, looks_secret

MASK = "***"

_ONE_WORD = lazy_pattern(r"[\w.~+/=:@%-]{1,500}", re.ASCII)
"""What a secret is written with, and a command line of a shell is not."""

_QUERY = lazy_pattern(r"(?<=[?&])([\w.-]{1,100})=([\w.~+/%-]{1,500})", re.ASCII)
_LOGIN = lazy_pattern(r"(?<=://)[\w.~+:%-]{1,500}@", re.ASCII)
_PATH = lazy_pattern(r"(?<=/)[\w+=-]{20,200}(?=[/?#]|$)", re.ASCII)

_LOADS = lazy_pattern(
    r"(LD_|DYLD_|NODE_|NPM_|YARN_|PNPM_|BUN_|DENO_|PYTHON|UV_|PIP_|CONDA_|PERL|RUBY|GEM_|BUNDLE_|"
    r"GIT_|LUA_|PHP|DOTNET_|CORECLR_|COR_|GOFLAGS|CARGO_|RUSTC|XDG_|LIBRARY_PATH|GCONV_|SSL_|"
    r"BASH_|CURL_|DOCKER_|ELECTRON_|LESSOPEN|EDITOR|VISUAL|PAGER).*|.*(JAVA|JDK).*OPTIONS|.*PROXY|"
    r"CLASSPATH|.*PATH|ENV|SHELL|SHELLOPTS|PS4|IFS|HOME|TMPDIR|ZDOTDIR|COMSPEC",
    re.IGNORECASE,
)

_DATA = lazy_pattern(
    r"(.*_)?(MEMORY|DB|DATABASE|DATA|STORE|STORAGE|LOGS?|SQLITE|VAULT)(_.*)?", re.IGNORECASE
)
_NO_DATA = lazy_pattern(
    r"(LD_|DYLD_|NODE|NPM|PYTHON|PERL|RUBY|LUA|PHP|UV|BASH|GIT).*|.*(JAVA|JDK).*OPTIONS|"
    r".*(LIB|MODULE|PLUGIN|CLASS|PACKAGE|EXEC|BIN|SCRIPT|LOADER).*",
    re.IGNORECASE,
)


def names_data(variable: str) -> bool:
    """Return whether a variable names the place of a server's data, such as `MEMORY_FILE_PATH`."""
    return _DATA().fullmatch(variable) is not None and not _NO_DATA().fullmatch(variable)


def shown_server(server: ServerSetting) -> str:
    """Return a server's command or address on one line, without anything that may be secret."""
    if server.transport == "stdio":
        return " ".join((server.command, *masked_words(server.args)))
    return server.cwd if server.transport == "window" else masked_url(server.url)


def masked_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of a command, values of options that look secret left out."""
    is_value = False
    for word in words:
        name, sign, value = word.partition("=")
        if is_value and not word.startswith("-"):
            yield word if re.fullmatch(r"(\$\{[^{}]*\})+", word) else MASK
        elif sign and holds_secret(name, value):
            yield f"{name}={MASK}"
        elif re.match(r"[A-Za-z-]+:\s*\S", word) and holds_secret(*word.split(":", 1)):
            yield f"{word.partition(':')[0]}: {MASK}"  # a header, as mcp-remote takes them
        elif "://" in word:
            yield masked_url(word)
        else:
            yield MASK if is_token(word) else word
        is_value = word.startswith("-") and not sign and looks_secret(word)


def masked_url(url: str) -> str:
    """Return an address without its user, its query, and the parts that look like secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    host = parts.netloc.rpartition("@")[2]
    path = "/".join(MASK if looks_random(part) else part for part in parts.path.split("/"))
    query = f"?{MASK}" if parts.query else ""
    return f"{parts.scheme}://{host}{path}{query}" if parts.netloc else path


def changes_what_is_loaded(name: str) -> bool:
    """Return whether a variable can make a program run other code than its words say."""
    return _LOADS().fullmatch(name) is not None and not names_data(name)


def told_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of a command for approval: all of each but its secrets.

    Only single words that look secret are left out, so that code that a program would run cannot
    pass for a secret.
    """
    option = ""
    for word in words:
        name, sign, value = word.partition("=")
        header = re.match(r"([A-Za-z-]{1,100}):\s*", word)
        if option and not word.startswith("-"):
            yield told_value(option, word)
        elif sign and _ONE_WORD().fullmatch(name):
            yield f"{name}={told_value(name, value)}"
        elif header and "://" not in word[: header.end() + 2]:
            yield header[0] + told_value(header[1], word[header.end() :])
        else:
            yield told_value("", word)
        option = word if word.startswith("-") and not sign and looks_secret(word) else ""


def told_table(table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and values for approval, without the secret parts of the values."""
    for name, value in table.items():
        yield name, value if changes_what_is_loaded(name) else told_value(name, value)


def told_value(name: str, value: str) -> str:
    """Return a value for approval, without its secret parts.

    Args:
        name: What it is the value of; empty: of nothing that has a name.
        value: As it is written.
    """
    scheme = re.match(r"(?:bearer|basic|token)\s+", value, re.IGNORECASE)
    start = scheme[0] if scheme else ""
    rest = value[len(start) :]
    if name and _ONE_WORD().fullmatch(rest) and holds_secret(name, rest):
        return f"{start}{MASK}"
    if re.match(r"[a-z][a-z0-9+.-]*://\S+$", value, re.IGNORECASE):
        value = _LOGIN().sub(f"{MASK}@", value)
        value = _QUERY().sub(_told_pair, value)
        value = _PATH().sub(lambda part: MASK if looks_random(part[0]) else part[0], value)
    return without_tokens(value, MASK)


def _told_pair(pair: re.Match[str]) -> str:
    secret = holds_secret(pair[1], pair[2]) or looks_random(pair[2])
    return f"{pair[1]}={MASK}" if secret else pair[0]
