"""The session: tools, policy, a workspace and engines behind one door."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast, get_args

from anyio import to_thread
from anyio.abc import TaskGroup
from msgspec.structs import replace

from lineshaft.errors import ConfigError, ToolError
from lineshaft.gate import Gate
from lineshaft.policy import Policy
from lineshaft.scripts import CheckLevel, Control, Engines, Job, Resumer, Runner, new_run_id
from lineshaft.session._background import BackgroundContext, background
from lineshaft.session._catalogue import Catalogue
from lineshaft.session._definitions import Api
from lineshaft.session._handles import ResultHandles
from lineshaft.session._inputs import checked_arguments, checked_inputs, script_text
from lineshaft.session._kept_results import KeptResults, ResultPart
from lineshaft.session._live_runs import LiveRuns
from lineshaft.session._model_side import MODEL_CHARACTERS, ModelSide
from lineshaft.session._open_tools import OpenTools
from lineshaft.session._requests import ScriptRequest
from lineshaft.session._run import Run
from lineshaft.session._runtime import runtime_tools
from lineshaft.session._session_tools import SessionTools, split
from lineshaft.session._storage import storage_of
from lineshaft.session._stored_runs import StoredRunActions
from lineshaft.session._validation import maskable, refuse_unusable, usable_caller
from lineshaft.session.routing import Route, logged_habits, route_of
from lineshaft.store import Store
from lineshaft.tools import Provider, Toolset, content_of
from lineshaft.trace import Redactor
from lineshaft.values import (
    NO_BOUNDARY,
    Approver,
    Belongings,
    Caller,
    CallResult,
    Elicit,
    Engine,
    Finding,
    Guard,
    Handled,
    Limits,
    Middleware,
    Origin,
    Preview,
    PythonOptions,
    Roots,
    RunResult,
    Sample,
    Sink,
    ToolSpec,
    Verdict,
    Workspace,
)
from lineshaft.workspace import with_built_in

T = TypeVar("T")

_TELLING: Sequence[Origin] = ("script", "model")
"""Those who ask what tools there are, by calling one."""


class Session(StoredRunActions):
    """Tools behind one door, and scripts over them. Use it with `async with`.

    Args:
        tools: Tools, functions, objects with tools, toolsets, providers such as MCP servers; none
            unless given.
        workspace: The folder that files and commands live in, or a workspace of another kind.
        policy: Decides which calls may run; None: `Policy(mode="auto")`.
        engine: `auto`, the name of an engine, or an engine.
        limits: Of every run; a model's script may make 50 calls where they say no other number.
        check: Whether findings about a script block it (`error`), inform, or the check is off.
        approver: Answers what policy asks. None, or an ask left open: the run pauses.
        elicit: Answers what tools ask a person; None: they learn that no person can be asked.
        sample: Answers what tools ask a model; None: none is offered.
        roots: Gives tools the folders that the user works in; None: none are given.
        guards: Look at changes before they land, beside those that come with Lineshaft; None: no
            guards at all.
        middleware: Wraps the door, outermost first.
        sinks: Take every event of every run.
        deps: Given to tools as `Context.deps`.
        atomic: Whether changes land whole or not at all; False: each is on the disk at once.
        store: Where runs are kept. None: in the person's state folder, from the first call on that
            does more than read and stage; a store, path or URL: there, each run; False: nowhere,
            so that nothing can be paused or replayed.
        scripts: Whether there are scripts at all; False: only direct calls.
        secrets: Texts that no record and no model may see, of 4 characters or more: a shorter one
            would hide ordinary text, and is left out with a warning.
        python: The full Python of scripts and of `python_run`.

    Raises:
        ConfigError: Any of them cannot be used; it says which and why.
    """

    tools: Catalogue
    """The tools, to look at: a mapping from name to facts, with search and stubs.

    Tools that policy denies for all arguments and ways in are left out.
    """

    def __init__(
        self,
        tools: Iterable[object] | Provider = (),
        *,
        workspace: str | Path | Workspace = ".",
        policy: Policy | None = None,
        engine: str | Engine = "auto",
        limits: Limits | None = None,
        check: CheckLevel = "error",
        approver: Approver | None = None,
        elicit: Elicit | None = None,
        sample: Sample | None = None,
        roots: Roots | None = None,
        guards: Sequence[Guard] | None = (),
        middleware: Sequence[Middleware] = (),
        sinks: Sequence[Sink] = (),
        deps: object = None,
        atomic: bool = True,
        store: Store | str | Path | Literal[False] | None = None,
        scripts: bool = True,
        secrets: Iterable[str] = (),
        python: PythonOptions | None = None,
    ) -> None:
        refuse_unusable(
            tools=tools,
            workspace=workspace,
            policy=policy,
            engine=engine,
            limits=limits,
            check=check,
            guards=guards,
            middleware=middleware,
            sinks=sinks,
            secrets=secrets,
            atomic=atomic,
            scripts=scripts,
            store=store,
            python=python,
        )
        caller = usable_caller(approver=approver, elicit=elicit, sample=sample, roots=roots)
        given, providers = split(tools, caller)
        self.policy, self.limits = policy or Policy(), limits or Limits()
        self._open_tools = OpenTools(lambda: self._session_tools.specs, self.policy)
        redactor, options = Redactor(maskable(secrets)), python or PythonOptions()
        jailed = (
            options.boundary != NO_BOUNDARY
        )  # where a person chose none, no tool counts as jailed
        storage = storage_of(workspace, atomic=atomic, store=store)
        self.store, self._root, self._shapes = storage.store, storage.root, storage.shapes()
        self._results = KeptResults(storage.store if storage.eager else None)
        self._handles = ResultHandles(lambda handle: content_of(self.providers, handle))
        runtime = Toolset.of_runtime(
            runtime_tools(partial(self._open_tools.to, *_TELLING), self._results, self._handles)
        )
        self._session_tools = SessionTools(
            given,
            providers,
            runtime,
            jailed=jailed,
            jail_works=partial(_jail_works, options),
            shapes=self._shapes,
        )
        self.tools = Catalogue(partial(self._open_tools.to, *get_args(Origin)))
        self._engines = Engines(engine, python=options)
        self._belongings = Belongings()
        self._runner = Runner(
            Gate(
                tools=self._session_tools,
                why_missing=self._session_tools.why_missing,
                policy=self.policy,
                redactor=redactor,
                caller=caller,
                guards=with_built_in(guards),
                middleware=tuple(middleware),
                deps=deps,
                shapes=self._shapes,
                python=options,
                belongings=self._belongings,
            ),
            environment=storage.under_runs(self._session_tools),
            engines=self._engines,
            check=check,
            sinks=tuple(sinks),
            scripts=scripts,
        )
        self._resumer = self.store and Resumer(self._runner, self.store, root=storage.root)
        self._model = self._model_side(runtime, redactor, scripts=scripts)
        self._group: TaskGroup | None = None
        self._background: BackgroundContext[TaskGroup] | None = None
        self._live = LiveRuns()

    def _model_side(self, runtime: Toolset, redactor: Redactor, *, scripts: bool) -> ModelSide:
        return ModelSide(
            lambda: self._session_tools.specs,
            open_tools=self._open_tools,
            runtime=runtime.specs,
            limits=self.limits.of_model,
            mode=self.policy.mode,
            scripts=scripts,
            redactor=redactor,
            keep=self._results.keep,
            images=self._handles.shown,
        )

    async def __aenter__(self) -> Self:
        if self._group is not None or self._live.ended:
            was = "was closed" if self._live.ended else "is in use"
            raise ConfigError(f"this session {was} already; make one for each `async with`")
        _must_be_asyncio()
        kept = (self.store.aclose,) if self.store is not None else ()
        let_go = partial(to_thread.run_sync, self._belongings.close)
        closed = (*kept, self._shapes.flush, self._engines.aclose, let_go)
        self._background = BackgroundContext(
            background(self._session_tools.opened(), closed=closed)
        )
        self._group = await self._background.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._refuse_another_loop()
        self._group = None
        await self._live.end()
        # The task group does not see the error, which it would wrap: it goes on unchanged.
        if self._background is not None:
            await self._background.close()

    async def run(
        self,
        script: str | Path,
        *,
        inputs: Mapping[str, object] | None = None,
        name: str = "script.py",
        limits: Limits | None = None,
        caller: Caller | None = None,
    ) -> RunResult:
        """Run a script over the session's tools.

        Args:
            script: Its text, or the path of a file on this machine.
            inputs: Values that the script finds as globals, JSON-like, by names that no tool,
                namespace or helper has; `args`, a list of texts, is in `sys.argv` too.
            name: Its name in tracebacks.
            limits: Instead of the session's.
            caller: The caller of this run, instead of the session's.

        Returns:
            The result; errors of the script or a tool are not raised.

        Raises:
            ConfigError: The inputs cannot be used, or the session was not entered.
        """
        job = self._job(script, inputs=inputs, name=name, limits=limits)
        return await self._carry_out(self._behind(job, caller))

    async def start(
        self,
        script: str | Path,
        *,
        inputs: Mapping[str, object] | None = None,
        name: str = "script.py",
        limits: Limits | None = None,
        caller: Caller | None = None,
    ) -> Run:
        """Start a script in the background; arguments as for `run`.

        Returns:
            The run: its events, its result, and the way to cancel it.
        """
        job = self._job(script, inputs=inputs, name=name, limits=limits)
        job = self._behind(job, caller)
        group = self._entered()
        run_id = new_run_id()
        run = Run(run_id, Control(job.limits.seconds))
        group.start_soon(run.carry_out, self._live, partial(self._runner.run, job, run_id=run_id))
        return run

    async def preview(
        self,
        script: str | Path,
        *,
        inputs: Mapping[str, object] | None = None,
        name: str = "script.py",
        limits: Limits | None = None,
        with_models: bool = False,
    ) -> Preview:
        """Run a script whose changes never land; arguments as for `run`.

        Reads are real; the first call that acts beyond the run's view ends it, and is not made.

        Args:
            script: See `run`.
            inputs: See `run`.
            name: See `run`.
            limits: See `run`.
            with_models: Whether microagents ask their models; False: a request to a model is a call
                that ends it.

        Returns:
            The progress of the script, and its changes.
        """
        job = self._job(script, inputs=inputs, name=name, limits=limits)
        job = replace(job, with_models=with_models)
        self._entered()
        with self._live.holding(Control(job.limits.seconds)) as control:
            result, diff = await self._runner.preview(job, run_id=new_run_id(), control=control)
        return Preview(run=result, diff=diff, stopped_at=next(iter(result.pending), None))

    def _later(self, run_id: str) -> tuple[LiveRuns, Resumer, Workspace]:
        self._entered()
        refuse_unusable(run_id=run_id)
        if self._resumer is None:
            raise ConfigError("this session keeps nothing of its runs (store=False)")
        return self._live, self._resumer, self._runner.environment.workspace

    async def check(
        self, script: str, *, inputs: Mapping[str, object] | None = None, name: str = "script.py"
    ) -> tuple[Finding, ...]:
        """Return the findings about a script, without running it.

        Args:
            script: Its text.
            inputs: The values it would be given, for their types.
            name: Its name in findings.
        """
        self._entered()
        given = checked_inputs(inputs, self._session_tools.scriptable)
        return await self._runner.find(script, name=name, inputs=given)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        origin: Origin = "code",
        caller: Caller | None = None,
        seconds: float | None = None,
    ) -> CallResult:
        """Make one call, through the same door as a script's.

        Args:
            tool: The tool's canonical name.
            arguments: By name, JSON-like.
            origin: The way the call came in, for policy and record.
            caller: The caller, instead of the session's; its origin counts.
            seconds: What the call and all that it makes may take, waits for approvals left out:
                an agent's requests to its model too. Then it ends with `E_TIMEOUT`. A resume goes
                on with what is left of them. None: as the limits and an agent's budget say.

        Returns:
            The result; errors of the tool are not raised.

        Raises:
            ConfigError: The arguments cannot be used, or the session was not entered.
        """
        self._entered()
        refuse_unusable(seconds=seconds, origin=origin, caller=caller)
        given = checked_arguments(tool, arguments)
        origin = caller.origin if caller else origin
        limits = self._limits_of(origin)
        control = self._runner.control_of_call(tool, limits, seconds=seconds)
        with self._live.holding(control):
            return await self._runner.call(
                tool,
                given,
                origin=origin,
                limits=limits,
                control=control,
                caller=caller,
                seconds=seconds,
            )

    def end_all(self) -> None:
        """End all runs and calls that are under way; their results say `cancelled`."""
        self._live.cancel()

    async def handle(self, name: str, arguments: Mapping[str, object] | str | None) -> Handled:
        """Carry out a model's call, through the same door as every other call.

        Args:
            name: As the model said it: `run_script`, or the name out of `definitions`.
            arguments: By name, or as the JSON text that some APIs give; None, null and blank text
                are no arguments.

        Returns:
            The text to give back; errors of the call are not raised.
        """
        self._entered()
        return await self._model.handle(
            name, arguments, run=self._run_for_model, call=self._call_for_model
        )

    async def route(self, *, calls: int | None = None) -> Route:
        """Decide which tools a model calls directly, and which in scripts alone.

        From the catalogue first: of ten tools or fewer, all are called directly where a task is
        expected to take at most three calls. From 20 logged runs of this workspace on, by the
        record: a tool is called directly if the runs that call it make at most three calls in all,
        with results of 4,000 bytes in all (medians). Keep the route for a whole conversation, since
        other definitions are other text for a prompt cache.

        Args:
            calls: Calls that a task is expected to take; None: not known.

        Returns:
            The tools of both kinds, with a reason for each.

        Raises:
            ConfigError: `calls` is no number of calls, or the session was not entered.
            StateError: The store cannot be read.
        """
        self._entered()
        if calls is not None and (isinstance(calls, bool) or calls < 0):
            raise ConfigError(f"calls is {calls!r}", hint="0 or more, or None: not known")
        models = [spec.name for spec in self.open_to("model")]
        if not self._model.has_scripts:
            reasons = dict.fromkeys(models, "there are no scripts here")
            return Route(direct=tuple(models), scripted=(), reasons=reasons)
        scripts = [spec.name for spec in self.open_to("script")]
        habits = await logged_habits(self.store, self._root) if self.store else None
        return route_of(models, scripts, calls=calls, habits=habits)

    def definitions(self, api: Api, *, direct: Iterable[str] | Route = ()) -> list[dict[str, Any]]:
        """Return the tool definitions to hand to a model API.

        Args:
            api: `openai`, `openai-responses`, `anthropic` or `mcp`.
            direct: Names of the tools that the model may also call without a script, or a route;
                of a route, tools that are not there any more are left out.

        Raises:
            ConfigError: There is no such API or tool.
        """
        if isinstance(direct, Route):
            there = {spec.name for spec in self._session_tools.specs}
            direct = [name for name in direct.direct if name in there]
        return self._model.definitions(api, direct)

    def instructions(self) -> str:
        """Return the text for a system prompt: what there is, and when to write a script."""
        return self._model.instructions()

    def guide(self) -> str:
        """Return how a script is written here; empty where there are no scripts."""
        return self._model.guide()

    def told(self, result: RunResult | CallResult, *, tool: str = "", beside: int = 0) -> Handled:
        """Return a result as a model reads it: short, and without secrets.

        Args:
            result: Of a run, or of one call.
            tool: The tool that was called.
            beside: Characters that the reader gets beside what is told of a run.
        """
        if isinstance(result, RunResult):
            return self._model.of_run(result, beside=beside)
        found = self._session_tools.get(tool)
        return self._model.of_call(result, found.spec if found else None)

    def shown(self, text: str, *, most: int = MODEL_CHARACTERS) -> str:
        """Return a text as a model may read it: without secrets, and cut where it is long.

        Args:
            text: The text; where it is cut, its end says how to read the whole.
            most: The most characters.
        """
        return self._model.shown(text, most)

    def kept(self, value: object) -> dict[str, object]:
        """Keep a value that is too long to be shown, without secrets, for `result_part`.

        Returns:
            Its `handle`, and its `bytes` as JSON.
        """
        return self._model.kept(value)

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

    def without_secrets(self, value: T) -> T:
        """Return a text, or data with texts in it, as a model may read it."""
        return cast("T", self._model.without_secrets(value))

    @property
    def providers(self) -> tuple[Provider, ...]:
        """The providers, whose tools may come and go."""
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
        """Call a function whenever the tools, or the reasons why some are missing, have changed.

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

    async def _call_for_model(self, tool: str, arguments: Mapping[str, object]) -> CallResult:
        return await self.call(tool, arguments, origin="model")

    async def _run_for_model(self, request: ScriptRequest) -> RunResult:
        limits = self.limits.of_model
        if request.seconds is not None:
            limits = replace(limits, seconds=request.seconds)
        job = Job(
            script=request.code,
            file=request.file,
            name=request.file or "script.py",
            inputs={"args": request.args},
            limits=limits,
            origin="model",
        )
        return await self._carry_out(job)

    def _job(
        self,
        script: str | Path,
        *,
        inputs: Mapping[str, object] | None,
        name: str,
        limits: Limits | None,
    ) -> Job:
        source, name = script_text(script, name)
        refuse_unusable(limits=limits)
        return Job(
            script=source,
            name=name,
            inputs=checked_inputs(inputs, self._session_tools.scriptable),
            limits=limits or self.limits,
        )

    def _behind(self, job: Job, caller: Caller | None) -> Job:
        refuse_unusable(caller=caller)
        if caller is None:
            return job
        limits = job.limits if job.limits is not self.limits else self._limits_of(caller.origin)
        return replace(job, caller=caller, origin=caller.origin, limits=limits)

    def _limits_of(self, origin: Origin) -> Limits:
        return self.limits.of_model if origin in ("model", "mcp") else self.limits

    async def _carry_out(self, job: Job) -> RunResult:
        self._entered()
        with self._live.holding(Control(job.limits.seconds)) as control:
            return await self._runner.run(job, run_id=new_run_id(), control=control)

    def _entered(self) -> TaskGroup:
        if self._live.ended:
            raise ConfigError("this session was closed; make another one")
        if self._group is None:
            raise ConfigError("enter the session first: `async with Session(...) as session:`")
        self._refuse_another_loop()
        return self._group

    def _refuse_another_loop(self) -> None:
        if self._background is not None and self._background.is_elsewhere:
            raise ConfigError(
                "a session belongs to the event loop in which it was entered, and this is another",
                hint="use it in one `asyncio.run(...)`, or make a session in each loop",
            )


def _must_be_asyncio() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigError(
            "a session needs an event loop of asyncio, and none runs here",
            hint="enter it in `asyncio.run(...)`, or in a thread with one beside trio's loop",
        ) from None


def _jail_works(options: PythonOptions) -> bool:
    from lineshaft.kit.view import jail_for_views  # noqa: PLC0415  only where a tool needs it

    try:
        jail_for_views(options.boundary)
    except ToolError:  # which says what is missing
        return False
    return True
