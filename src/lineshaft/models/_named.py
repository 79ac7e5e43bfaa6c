"""Models by name."""

from collections.abc import Mapping

from lineshaft.errors import ConfigError
from lineshaft.models._model import Model
from lineshaft.models._price import ModelPrice

_OPENAI = "https://api.openai.com/v1"
_OLLAMA_PORT = 11434
_EVERYWHERE = ("", "0.0.0.0", "[::]")  # noqa: S104  where a server listens, which is no place to ask
_FORMS = "openai:NAME, ollama:NAME, or URL#NAME for a server that speaks OpenAI's chat completions"
_SECRETS = ("_KEY", "_TOKEN", "_SECRET")
"""Ends of the names of variables whose values no error tells."""

_LEAST_SECRET = 8


def model_named(
    name: str, *, environment: Mapping[str, str], price: ModelPrice | None = None
) -> Model:
    """Return the model of a name.

    Args:
        name: `openai:NAME` (with `OPENAI_API_KEY`, and `OPENAI_BASE_URL` where it is another),
            `ollama:NAME` (a server on this machine, or at `OLLAMA_HOST`), or `URL#NAME`, with
            `LINESHAFT_MODEL_KEY` as its key where there is one. With the extra `models` also
            `PROVIDER:NAME` of any provider that pydantic-ai knows; it reads the key from this
            process's variables.
        environment: Variables, which hold the keys.
        price: What a million tokens cost, for models that are asked by HTTP; None: not known.

    Raises:
        ConfigError: The name has none of these forms, or its key or its package is missing.
    """
    from lineshaft.models.openai import OpenAICompatible  # noqa: PLC0415  HTTP is slow to import

    if name.startswith(("http://", "https://")):
        url, _, model = name.partition("#")
        if not model:
            raise ConfigError(f"{name!r} names no model", hint=f"write {url}#NAME")
        key = environment.get("LINESHAFT_MODEL_KEY")
        return OpenAICompatible(model, base_url=url, api_key=key, price=price, name=name)
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise ConfigError(f"there is no model {name!r}", hint=f"name it as {_FORMS}")
    if provider not in ("openai", "ollama"):
        return _of_pydantic_ai(name, environment)
    if provider == "ollama":
        url = _ollama(environment.get("OLLAMA_HOST", "").strip())
        return OpenAICompatible(model, base_url=url, price=price, name=name)
    key = environment.get("OPENAI_API_KEY")
    if not key:
        raise ConfigError(f"{name!r} needs a key", hint="set OPENAI_API_KEY")
    url = environment.get("OPENAI_BASE_URL") or _OPENAI
    return OpenAICompatible(model, base_url=url, api_key=key, price=price, name=name)


def _ollama(host: str) -> str:
    """Return the address of Ollama; like its own programs, with its port where none is said.

    An address with a scheme has the port of that.
    """
    if "://" in host:
        return f"{host.rstrip('/')}/v1"
    place, slash, path = host.rstrip("/").partition("/")
    name, colon, port = place.rpartition(":")
    if not colon or place.endswith("]"):  # the colons of an IPv6 address in brackets
        name, port = place, str(_OLLAMA_PORT)
    name = "127.0.0.1" if name in _EVERYWHERE else name
    return f"http://{name}:{port}{slash}{path}/v1"


def _of_pydantic_ai(name: str, environment: Mapping[str, str]) -> Model:
    try:
        from lineshaft.models.pydantic_ai import PydanticAIModel  # noqa: PLC0415  slow, an extra
    except ModuleNotFoundError:
        raise ConfigError(
            f"there is no model {name!r} without the extra `models`",
            hint=f'pip install "lineshaft[models]", or name it as {_FORMS}',
        ) from None
    secrets = [
        value
        for key, value in environment.items()
        if key.upper().endswith(_SECRETS) and len(value) >= _LEAST_SECRET
    ]
    return PydanticAIModel(name, name=name, secrets=secrets)
