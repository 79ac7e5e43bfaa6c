"""Models by name: the address, the key, and what is wrong with a name."""

import subprocess
import sys

import pytest

from lineshaft.errors import ConfigError
from lineshaft.models import ModelRequest, UserMessage, model_named
from lineshaft.models.openai import OpenAICompatible
from models.wire import KEY, answer, completion, serving

ASK = ModelRequest(messages=(UserMessage(text="Hello."),))
SAID = answer(completion(content="Hello, too."))


async def test_openai_is_asked_with_its_key_where_its_variable_says() -> None:
    async with serving([SAID]) as wire:
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": wire.url}
        model = model_named("openai:tiny", environment=environment)
        reply = await model.complete(ASK)
    assert (model.name, reply.text) == ("openai:tiny", "Hello, too.")
    assert KEY in wire.sent[0].head
    assert wire.sent[0].body["model"] == "tiny"


async def test_a_local_server_needs_no_key() -> None:
    async with serving([SAID]) as wire:
        host = wire.url.removeprefix("http://").removesuffix("/v1")
        for given in (host, f"http://{host}/"):
            model = model_named("ollama:tiny:1b", environment={"OLLAMA_HOST": given})
            await model.complete(ASK)
    assert [sent.body["model"] for sent in wire.sent] == ["tiny:1b"] * 2
    assert all("authorization" not in sent.head.lower() for sent in wire.sent)
    assert model_named("ollama:tiny", environment={}).name == "ollama:tiny"


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("0.0.0.0", "127.0.0.1:11434"),  # noqa: S104  where a server listens
        ("0.0.0.0:1", "127.0.0.1:1"),
        (":1", "127.0.0.1:1"),
        ("box", "box:11434"),
        ("[::1]", "[::1]:11434"),
        ("http://box", "box"),
    ],
)
async def test_ollama_has_its_own_port_where_none_is_said(
    given: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls: list[str] = []

    def noted(model: OpenAICompatible, *_: object, base_url: str, **__: object) -> None:
        urls.append(base_url)

    monkeypatch.setattr(OpenAICompatible, "__init__", noted)
    model_named("ollama:tiny", environment={"OLLAMA_HOST": given})
    assert urls == [f"http://{asked}/v1"]


async def test_any_address_may_be_named() -> None:
    async with serving([SAID]) as wire:
        name = f"{wire.url}#owner/tiny"
        model = model_named(name, environment={"LINESHAFT_MODEL_KEY": KEY})
        await model.complete(ASK)
    assert wire.sent[0].body["model"] == "owner/tiny"
    assert KEY in wire.sent[0].head


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai:tiny", "needs a key"),
        ("tiny", "there is no model 'tiny'"),
        ("openai:", "there is no model"),
        ("elsewhere:tiny", "there is no model"),
        ("http://127.0.0.1/v1", "names no model"),
        ("http://#tiny", "base URL"),
    ],
)
def test_a_name_that_is_none_says_what_to_write(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        model_named(name, environment={})


def test_other_providers_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="client of 'anthropic' is not installed") as caught:
        model_named("anthropic:tiny", environment={})
    assert "pydantic-ai-slim[anthropic]" in str(caught.value.hint)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    for name in [name for name in sys.modules if name.startswith("lineshaft.models.pydantic_ai")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ConfigError, match="without the extra `models`") as caught:
        model_named("anthropic:tiny", environment={})
    assert "lineshaft[models]" in str(caught.value.hint)


def test_the_room_is_imported_without_clients() -> None:
    code = "import sys, lineshaft.models as m; print({'pydantic_ai', 'httpx2'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"


def test_the_default_addresses_are_the_providers_own() -> None:
    model = model_named("openai:tiny", environment={"OPENAI_API_KEY": KEY})
    assert model.name == "openai:tiny"
    assert not model.priced
