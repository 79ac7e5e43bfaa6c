"""A session as seen from outside: by models, and by clients of a server."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from lineshaft.scripts import Runner
from lineshaft.session._catalogue import Catalogue
from lineshaft.session._definitions import Api
from lineshaft.session._kept_results import KeptResults, ResultPart
from lineshaft.session._model_side import ModelSide
from lineshaft.session._open_tools import OpenTools
from lineshaft.session._session_tools import SessionTools
from lineshaft.tools import Provider
from lineshaft.values import CallResult, Handled, Origin, RunResult, ToolSpec, Verdict

Value = TypeVar("Value")


class Facing:
    """The half of a session that describes its tools, and how runs ended."""

    tools: Catalogue
    _model: ModelSide
    _session_tools: SessionTools
    _runner: Runner
    _results: KeptResults
    _open_tools: OpenTools

    def definitions(self, api: Api, *, direct: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Return the tool definitions to hand to a model API.

        Args:
            api: `openai`, `openai-responses`, `anthropic` or `mcp`.
            direct: Names of the tools that the model may also call without a script.

        Raises:
            ConfigError: There is no such API or tool.
        """
        return self._model.definitions(api, direct)

    def instructions(self) -> str:
        """Return the text for a system prompt: what there is, and when to write a script."""
        return self._model.instructions()

    def guide(self) -> str:
        """Return how a script is written here; empty where there are no scripts."""
        return self._model.guide()

    def told(self, result: RunResult | CallResult, *, tool: str = "") -> Handled:
        """Return a result as a model reads it: short, and without secrets.

        Args:
            result: Of a run, or of one call.
            tool: The tool that was called.
        """
        if isinstance(result, RunResult):
            return self._model.of_run(result)
        found = self._session_tools.get(tool)
        return self._model.of_call(result, found.spec if found else None)

    def shown(self, text: str) -> str:
        """Return a text as a model may read it: without secrets, and cut where it is long."""
        return self._model.shown(text)

    async def result_part(self, handle: str, start: int, count: int) -> ResultPart:
        """Return a part of a result that was cut for a model, without secrets.

        Args:
            handle: From the end of that result.
            start: Where the part begins, in characters from 0.
            count: The most characters of the part.

        Raises:
            ToolError: `E_INVALID_ARGS`: the handle is unknown or its time is over, or a number is
                out of range.
        """
        return await self._results.part(handle, start, count)

    def without_secrets(self, value: Value) -> Value:
        """Return a text, or data with texts in it, as a model may read it."""
        return cast("Value", self._model.without_secrets(value))

    @property
    def providers(self) -> tuple[Provider, ...]:
        """Where tools come from that may come and go."""
        return self._session_tools.providers

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return all tools, those that policy closes among them: to call, not to tell of."""
        return self._session_tools.specs

    def open_to(self, *origins: Origin) -> tuple[ToolSpec, ...]:
        """Return the tools that policy does not close to all of some ways in: to tell of.

        Args:
            *origins: The ways in which the reader could call.
        """
        return self._open_tools.to(*origins)

    def namespaces(self) -> dict[str, int]:
        """Return how many tools each namespace has now; none where a provider is not there yet.

        Tools that policy closes do not count.
        """
        there = {spec.namespace for spec in self._session_tools.specs}
        providers = self._session_tools.providers
        counts = {provider.name: 0 for provider in providers if provider.name not in there}
        for spec in self.tools.values():
            counts[spec.namespace] = counts.get(spec.namespace, 0) + 1
        return dict(sorted(counts.items()))

    def verdict(
        self, tool: str, arguments: Mapping[str, object], *, origin: Origin = "code"
    ) -> Verdict:
        """Return what policy says of a call that names no paths, without making it.

        Args:
            tool: The tool's canonical name.
            arguments: By name.
            origin: The way the call would come in.
        """
        return self._runner.verdict(tool, arguments, origin=origin)

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have a function called whenever the tools, or why some are missing, have changed.

        Returns:
            What ends this.
        """
        return self._session_tools.watch(changed)

    async def ready(self, words: str = "") -> tuple[str, ...]:
        """Wait for the providers that a text speaks of; some time for all where it is empty.

        Returns:
            What of them is not there, and why.
        """
        found = [finding.message for finding in await self._session_tools.ready(words)]
        return tuple(self.without_secrets(found))
