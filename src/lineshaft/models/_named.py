"""Models by name."""

from collections.abc import Mapping

from lineshaft.errors import ConfigError
from lineshaft.models._model import Model

_OPENAI = "https://api.openai.com/v1"
_OLLAMA = "http://127.0.0.1:11434/v1"
_FORMS = "openai:NAME, ollama:NAME, or URL#NAME for a server that speaks OpenAI's chat completions"


def model_named(name: str, *, environment: Mapping[str, str]) -> Model:
    """Return the model of a name.

    Args:
        name: `openai:NAME` (with `OPENAI_API_KEY`, and `OPENAI_BASE_URL` where it is another),
            `ollama:NAME` (a server on this machine, or at `OLLAMA_HOST`), or `URL#NAME`, with
            `LINESHAFT_MODEL_KEY` as its key where there is one.
        environment: Variables, which hold the keys.

    Raises:
        ConfigError: The name has none of these forms, or its key is missing.
    """
    from lineshaft.models.openai import OpenAICompatible  # noqa: PLC0415  HTTP is slow to import

    if name.startswith(("http://", "https://")):
        url, _, model = name.partition("#")
        if not model:
            raise ConfigError(f"{name!r} names no model", hint=f"write {url}#NAME")
        key = environment.get("LINESHAFT_MODEL_KEY")
        return OpenAICompatible(model, base_url=url, api_key=key, name=name)
    provider, _, model = name.partition(":")
    if not model or provider not in ("openai", "ollama"):
        raise ConfigError(f"there is no model {name!r}", hint=f"name it as {_FORMS}")
    if provider == "ollama":
        host = environment.get("OLLAMA_HOST", "").rstrip("/")
        if host and "://" not in host:
            host = f"http://{host}"
        return OpenAICompatible(model, base_url=f"{host}/v1" if host else _OLLAMA, name=name)
    key = environment.get("OPENAI_API_KEY")
    if not key:
        raise ConfigError(f"{name!r} needs a key", hint="set OPENAI_API_KEY")
    url = environment.get("OPENAI_BASE_URL") or _OPENAI
    return OpenAICompatible(model, base_url=url, api_key=key, name=name)
