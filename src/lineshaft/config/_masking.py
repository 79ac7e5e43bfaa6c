"""How servers are shown: what may be a secret in their words is left out."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from lineshaft.config._literals import looks_random
from lineshaft.config._secrets import holds_secret, is_token
from lineshaft.config._servers import ServerSetting
from lineshaft.processes import looks_secret

MASK = "***"


def shown_server(server: ServerSetting) -> str:
    """Return a server's command or address on one line, without anything that may be secret."""
    if server.transport == "stdio":
        return " ".join((server.command, *masked_words(server.args)))
    return masked_url(server.url)


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
