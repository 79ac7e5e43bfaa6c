"""The microagent: a model and a few tools that return one typed result.

Above: host code that runs one, or a session that has it as a tool. Below: the loop, and the gate,
which each of its calls and of its requests to the model passes.
"""

import asyncio
import hashlib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from functools import partial
from keyword import iskeyword
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    NotRequired,
    Required,
    Self,
    TypedDict,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)
from weakref import WeakKeyDictionary

import pydantic_core
from msgspec.structs import replace

from lineshaft.agents._budget import AgentUsage, Budget
from lineshaft.agents._commit import Commits
from lineshaft.agents._exit import EXIT, GIVE_UP, ExitTool
from lineshaft.agents._loop import AgentEnd, AgentEvent, AgentLoop, Seams, ValidatorFailed
from lineshaft.agents._partial_reads import PartialReads
from lineshaft.agents._requests import Conversation, ModelRequests
from lineshaft.agents._template import PromptTemplate
from lineshaft.agents._validation import VALIDATE, is_fault, under_validation, validation
from lineshaft.errors import AgentError, AgentPaused, ConfigError, ToolError
from lineshaft.gate import surrounding_call
from lineshaft.models import (
    CallAnswer,
    CheckableModel,
    ImagePart,
    Message,
    Model,
    ModelReply,
    OfferedTool,
    UserMessage,
    model_named,
)
from lineshaft.session import Session, SessionArguments, script_tool, waited_for
from lineshaft.tools import Mismatch, Tool, Toolset, model_name, published, tell
from lineshaft.values import (
    AGENT_NAMESPACE,
    ASK_MODEL,
    COMMIT,
    Call,
    Context,
    Done,
    Failure,
    Struct,
    Value,
)

R = TypeVar("R")
V = TypeVar("V")

_NO_MODEL = (
    'give it `model="openai:gpt-5-mini"`; on the command line, `--model M` or the variable'
    " LINESHAFT_MODEL"
)
_MODELS: WeakKeyDictionary[Callable[..., object], Callable[[], Model]] = WeakKeyDictionary()
"""What finds the model of an agent, by the body of its tool."""

RETURNS = "returns"

_OF_A_MODEL = ("name", "complete")

_OWN_ARGUMENTS = frozenset({"self", "context", "model", "history", "images", RETURNS})

Validator = Callable[[R], object] | Callable[[R, Context], object]
"""Looks at a result, sync or async: None or True accept it, anything else is the reason against it.
A second parameter, annotated `Context`, is filled in. A `ValueError`, an `AssertionError` or a
`ToolError` is a reason, too; any other exception is the validator's fault and ends the agent."""


class TextInput(TypedDict):
    """The inputs of an agent that declares none."""

    text: str
    """What it works on."""


class AgentResult(Struct, Generic[R], frozen=True, kw_only=True):
    """The result of one run of a microagent."""

    output: R
    """The result that its model exited with, of the declared type."""

    usage: AgentUsage
    """What the run has used."""

    messages: tuple[Message, ...]
    """The conversation, the last reply included; may be given to a later run as `history`."""

    run_id: str
    """Of the record: `lineshaft show`, `lineshaft undo`."""


class _Outcome(Struct):
    """The end of one run, for host code that waits for it."""

    end: AgentEnd | None = None
    error: AgentError | None = None


class _Start(Struct, frozen=True, kw_only=True):
    """The arguments that host code gives for one run."""

    model: str | Model | None = None
    history: Sequence[Message] = ()
    images: tuple[ImagePart, ...] = ()
    outcome: _Outcome | None = None


class Microagent(Generic[R]):
    """A model and a few tools that work until the model exits with a result of the declared type.

    `Microagent[Verdict](name="triage", ...)` declares one. `run` runs it by itself; in a session it
    is a tool, in scripts `await agents.triage(...)`. Its calls and its requests to the model pass
    the gate like all calls, and are in the record of the run that it is part of.

    Args:
        name: An identifier: its name in `agents`, where scripts find it.
        instructions: The first message: text, or a template.
        description: For those who call it; the first line of the instructions where left out.
        inputs: What it is given, a TypedDict or a pydantic model; where left out `text`. Inputs
            stand in the first message after the instructions, fenced.
        tools: What its model may call, as for `Session`; no other caller can call these.
        model: Its name (`openai:gpt-5-mini`) or a model; None: each run names one, or
            `LINESHAFT_MODEL` does.
        budget: What one run may use.
        validate: Looks at each result: None or True accept it, anything else is the reason against
            it, which the model is told.
        idempotent: Whether a request may be sent again whose end is not known, as the
            host died.
        scripts: Whether its model may also work by programs: `run_script` over these tools.

    Raises:
        ConfigError: It has no result type, or one of the arguments cannot be used.
    """

    _declared: object = None
    """The type of the result; `Any`: each call may give one."""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, result: object) -> type:
            """Return the class for agents with results of a type."""
            if isinstance(result, TypeVar):
                return cls
            shown = getattr(result, "__name__", repr(result))
            return type(f"{cls.__name__}[{shown}]", (cls,), {"_declared": result})

    _runs_programs: bool = False
    """Whether the validator runs programs in views of their own."""

    def __init__(
        self,
        *,
        name: str,
        instructions: str | PromptTemplate,
        description: str = "",
        inputs: type | None = None,
        tools: Iterable[object] = (),
        model: str | Model | None = None,
        budget: Budget | None = None,
        validate: Validator[R] | None = None,
        idempotent: bool = False,
        scripts: bool = False,
    ) -> None:
        _refuse_unusable(name, model=model, budget=budget, idempotent=idempotent, scripts=scripts)
        self._exit = ExitTool(self._declared)
        self.name = name
        self._template = _template_of(name, instructions)
        self._description = description or _first_line(self._template.task)
        self._inputs, self._validated = _signature_of(name, inputs or TextInput)
        self._tools = tools if isinstance(tools, Toolset) else Toolset(tools)
        if scripts:
            self._tools |= Toolset.of_runtime([script_tool(self._tools.specs)])
        for taken in (ASK_MODEL, COMMIT, VALIDATE, EXIT, GIVE_UP):
            if taken in self._tools:
                raise ConfigError(f"agent {name!r}: a tool is called {taken!r}, which is its own")
        self._model = model
        self._budget = budget or Budget()
        self._validate = validate
        self._idempotent = idempotent
        self._tool = self._made(_Start())

    def with_model(self, model: str | Model) -> Self:
        """Return the same agent with another model, as a session or a test needs it.

        Raises:
            ConfigError: It is neither the name of a model nor one.
        """
        _refuse_no_model(self.name, model)
        other = copy(self)
        other._model = model  # noqa: SLF001  a copy of its own
        other._tool = other._made(_Start())  # noqa: SLF001  the same
        return other

    @property
    def _is_open(self) -> bool:
        """Whether each call may give the type of its result."""
        return self._declared is Any or self._declared is object

    def as_tool(self) -> Tool[..., Any]:
        """Return the agent as a tool of a session: `agents.NAME`."""
        return self._tool

    async def run(
        self,
        *,
        model: str | Model | None = None,
        history: Sequence[Message] = (),
        images: Sequence[ImagePart] = (),
        **arguments: Any,  # noqa: ANN401  its inputs, which it declares itself
    ) -> AgentResult[R]:
        """Run the agent: in the body of a tool as a part of the tool's run, else by itself.

        Args:
            model: Instead of its own.
            history: A conversation that it goes on with.
            images: Pictures that stand in its first message. A run with pictures or a history does
                not pause: a resume would not know them.
            **arguments: Its inputs; `returns`, the type or JSON Schema of the result, where the
                agent is a `Microagent[Any]`; and what `Session` takes besides tools
                (`workspace=`). With any of the latter it runs by itself, in a session of its own,
                wherever it is called.

        Raises:
            AgentError: It ended without a result.
            ConfigError: An argument cannot be used, or there is no model.
            AgentPaused: It runs by itself, and calls wait for an approval.
            ToolError: Policy refused it.
        """
        settings = {
            k: arguments.pop(k) for k in SessionArguments.__annotations__ & arguments.keys()
        }
        self._refuse_unknown(arguments)
        _refuse_no_model(self.name, model)
        _refuse_unfit(self.name, "history", history, (UserMessage, ModelReply, CallAnswer))
        _refuse_unfit(self.name, "images", images, (ImagePart,))
        outcome = _Outcome()
        start = _Start(model=model, history=tuple(history), images=tuple(images), outcome=outcome)
        self._resolved(start)
        exit_tool = self._exit
        if self._is_open and arguments.get("returns") is not None:
            exit_tool = ExitTool(arguments["returns"])
            arguments["returns"] = exit_tool.schema
        tool, around = self._made(start), surrounding_call()
        if around is not None and not settings:
            run_id, done = around.run_id, await around.call(tool, arguments)
        else:
            async with Session(
                Toolset.of_runtime([tool]), **cast("SessionArguments", settings)
            ) as session:
                called = await session.call(tool.name, arguments)
            run_id, error = called.run_id, called.error
            if error is not None and called.pending:
                raise AgentPaused(
                    error.message, run_id=run_id, pending=called.pending, hint=error.hint
                )
            done = Value(called.value)
            if error is not None:
                done = Failure(error.code, error.message, error.hint)
        if isinstance(done, Failure):
            raise outcome.error or ToolError(done.code, done.message, hint=done.hint)
        end = outcome.end
        if end is None:
            result = self._recorded(exit_tool, done.value)
            end = AgentEnd(result=result, messages=(), usage=AgentUsage())
        elif exit_tool is not self._exit:  # the loop knows the schema of the type alone
            end = replace(end, result=exit_tool.typed(done.value))
        return AgentResult(
            output=cast("R", end.result), usage=end.usage, messages=end.messages, run_id=run_id
        )

    def _recorded(self, exit_tool: ExitTool, value: object) -> object:
        """Return the result of a run that a resume has from the record, where it stands as JSON.

        Raises:
            ToolError: `E_INVALID_RESULT`: its type does not take the JSON that it gives.
        """
        try:
            return exit_tool.typed(value)
        except ToolError as error:
            text = (
                f"agent {self.name!r} ended before this resume, and the type of its result does "
                f"not take the JSON that it gives: {error.message}"
            )
            hint = "give fields one name for both ways, and no serializer that changes a value"
            raise ToolError("E_INVALID_RESULT", text, hint=hint) from error

    def run_sync(
        self,
        *,
        model: str | Model | None = None,
        history: Sequence[Message] = (),
        images: Sequence[ImagePart] = (),
        **arguments: Any,  # noqa: ANN401  as for `run`
    ) -> AgentResult[R]:
        """Run the agent, and wait for it; everything as for `run`."""
        work = partial(self.run, model=model, history=history, images=images, **arguments)
        around = surrounding_call()
        if around is None or around.loop is _running():
            return waited_for(work)
        return asyncio.run_coroutine_threadsafe(work(), around.loop).result()

    def _refuse_unknown(self, arguments: Iterable[str]) -> None:
        """Refuse what `run` would take by another name, or of another agent.

        Raises:
            ConfigError: An argument of the session is misspelt, or the result has a type already.
        """
        for name in arguments:
            if name in self._inputs.parameters or (name == RETURNS and self._is_open):
                continue
            if name == RETURNS:
                raise ConfigError(
                    f"agent {self.name!r} declares its result: a call gives no `returns`",
                    hint="a Microagent[Any] takes the type of its result at each call",
                )
            close = get_close_matches(name, SessionArguments.__annotations__, n=1)
            if close and not get_close_matches(name, self._inputs.parameters, n=1):
                takes = ", ".join(self._inputs.parameters)
                raise ConfigError(
                    f"agent {self.name!r} takes no {name!r}",
                    hint=f"did you mean {close[0]!r}? its inputs: {takes}",
                )

    def _resolved(self, start: _Start) -> Model:
        """Return the model of a run.

        Raises:
            ConfigError: There is none, or it lacks its key or package, or the budget has a cost and
                the model no price.
        """
        model = start.model or self._model or os.environ.get("LINESHAFT_MODEL")
        if model is None:
            raise ConfigError(f"agent {self.name!r} has no model", hint=_NO_MODEL)
        if isinstance(model, str):
            model = model_named(model, environment=os.environ)
        if isinstance(model, CheckableModel):
            model.check()
        if self._budget.cost is not None and not model.priced:
            raise ConfigError(
                f"agent {self.name!r} has a budget of {self._budget.cost:g} dollars, and the price "
                f"of {model.name!r} is not known",
                hint="leave the cost out of its budget, or give the model a price",
            )
        return model

    def _made(self, start: _Start) -> Tool[..., Any]:
        """Return the container that is one run of the agent."""
        requests = ModelRequests(partial(self._resolved, start), repeatable=self._idempotent)
        commits = Commits()

        async def body(context: Context, **given: object) -> object:
            exit_tool = _exit_for(given.pop(RETURNS, None)) or self._exit
            inputs = self._validated(given)
            conversation = requests.conversation(context)
            loop = self._loop(context, conversation, commits, exit_tool, made.contract.deliver)
            return await self._work(context, inputs, start, loop)

        parameters = list(self._inputs.parameters.values())
        if self._is_open:
            parameters.append(_RETURNS)
        typed = not isinstance(self._declared, Mapping)
        body.__doc__ = self._description
        body.__annotations__ = {
            "context": Context,
            **{each.name: each.annotation for each in parameters},
            "return": self._declared if typed else object,
        }
        taken = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
        body.__signature__ = inspect.Signature([*parameters, taken])  # pyright: ignore[reportFunctionMemberAccess]  read by `inspect.signature`
        _MODELS[body] = partial(self._resolved, start)
        own = {requests.tool.name: requests.tool, COMMIT: commits.tool, **self._tools}
        if self._validate is not None:
            validate = cast("Callable[..., object]", self._validate)
            own[VALIDATE] = validation(self.name, validate, viewed=self._runs_programs)
        made = Tool.from_function(
            body,
            name=f"{AGENT_NAMESPACE}.{self.name}",
            effect="model",
            container=True,
            calls_as="agent",
            replayable=not (start.history or start.images),  # which a resume would not know
            digest=self._digest(start),
        )
        return made.bringing(own)

    def _digest(self, start: _Start) -> str:
        """Return the hash of all that decides how the agent works."""
        model = start.model or self._model
        told: dict[str, object] = {
            "template": self._template,
            "result": self._exit.offered.input_schema,
            "model": model.name if model is not None and not isinstance(model, str) else model,
            "budget": self._budget,
            "validates": self._validate is not None,
            "tools": [
                (spec.name, spec.description, spec.input_schema, spec.effect, spec.digest)
                for spec in (tool.spec for tool in self._tools.values())
            ],
        }
        return hashlib.sha256(pydantic_core.to_json(told)).hexdigest()

    async def _work(
        self, context: Context, given: Mapping[str, object], start: _Start, loop: AgentLoop
    ) -> object:
        bound = self._inputs.bind(**given)
        bound.apply_defaults()
        inputs = {
            name: context.secrets.value(pydantic_core.to_jsonable_python(value))
            for name, value in bound.arguments.items()
        }
        first = UserMessage(text=self._template.render(inputs), images=start.images)
        outcome = start.outcome or _Outcome()
        try:
            end = await loop.run((*start.history, first))
        except AgentError as error:
            outcome.error = error
            raise ToolError.of(error) from error
        outcome.end = end
        return end.result

    def _loop(
        self,
        context: Context,
        conversation: Conversation,
        commits: Commits,
        exit_tool: ExitTool,
        deliver: Callable[[object], object],
    ) -> AgentLoop:
        offered = {model_name(name): tool for name, tool in self._tools.items()}
        reads = PartialReads(context)

        async def call(name: str, arguments: Mapping[str, object]) -> Done:
            tool = offered[name]
            own = published(tool.spec).names
            named = {own.get(key, key): value for key, value in arguments.items()}
            if (refused := await reads.refusal(tool, named)) is not None:
                return refused
            made = Call(tool=tool.name, arguments=named, origin="agent")
            done = await context.dispatch(made)
            if isinstance(done, Failure):
                message, hint = map(context.secrets.value, (done.message, done.hint))
                return replace(done, message=str(message), hint=str(hint))
            shown = context.secrets.value(done.value)
            await reads.note(tool, named, done.value, shown)
            return Value(shown)

        async def validate(result: object) -> object:
            try:
                deliver(result)  # what fails here would fail after the commit
            except Mismatch as error:
                told = tell(error.problems, "it")
                raise ToolError("E_INVALID_RESULT", told, hint=error.hint) from error
            if self._validate is None:
                return None
            plain = {"result": pydantic_core.to_jsonable_python(result)}
            with under_validation(result):
                done = await context.dispatch(Call(tool=VALIDATE, arguments=plain, origin="agent"))
            if isinstance(done, Failure) and is_fault(done.code):
                raise ValidatorFailed(done.message, hint=done.hint)
            if isinstance(done, Failure):
                raise ToolError(done.code, done.message, hint=done.hint)
            return done.value

        async def commit(result: object) -> None:
            del result
            await commits.commit(context)

        return AgentLoop(
            tools=[_offer(name, tool) for name, tool in offered.items()],
            exit_tool=exit_tool,
            budget=self._budget,
            name=self.name,
            seams=Seams(
                ask=conversation.ask,
                call=call,
                validate=validate,
                commit=commit,
                notify=partial(_tell, context, self._budget),
                elapsed=conversation.elapsed,
                wait=conversation.wait,
            ),
        )


def _refuse_unusable(name: str, *, model: object, budget: object, **switches: object) -> None:
    """Refuse arguments of another kind, which would be taken for something else later.

    Raises:
        ConfigError: One of them cannot be used.
    """
    if not isinstance(cast("object", name), str):
        raise ConfigError(f"an agent's name is {name!r}, no text", hint='write name="triage"')
    _refuse_no_model(name, model)
    if not isinstance(budget, Budget | None):
        hint = "write budget=Budget(turns=10)"
        raise ConfigError(f"agent {name!r}: budget is {budget!r}, no Budget", hint=hint)
    for option, said in switches.items():
        if not isinstance(said, bool):
            raise ConfigError(f"agent {name!r}: {option} must be True or False, not {said!r}")


def _refuse_no_model(name: str, model: object) -> None:
    """Refuse what is given as a model, and neither names one nor is one.

    Raises:
        ConfigError: It is not.
    """
    lacks = [each for each in _OF_A_MODEL if not hasattr(model, each)]
    if not (model is None or isinstance(model, str)) and lacks:
        hint = 'such as model="openai:gpt-5-mini"'
        if len(lacks) < len(_OF_A_MODEL):
            hint = f"a model of your own needs `{'`, `'.join(lacks)}` too"
        raise ConfigError(f"agent {name!r}: model is {model!r}, no name or model", hint=hint)


def _refuse_unfit(name: str, option: str, given: object, kinds: tuple[type, ...]) -> None:
    """Refuse what a run is begun with where a part of it is of another kind.

    Raises:
        ConfigError: It is.
    """
    parts = cast("Sequence[object]", given) if isinstance(given, Sequence) else [given]
    for part in parts:
        if not isinstance(part, kinds):
            raise ConfigError(
                f"agent {name!r}: {option} has {part!r:.80}, which is no "
                f"{' or '.join(kind.__name__ for kind in kinds)}",
                hint="both are lists; the history of a run is `result.messages`",
            )


def refuse_without_model(tool: Tool[..., Any]) -> None:
    """Refuse an agent whose model cannot be asked, before a run of it begins.

    Args:
        tool: An agent as a tool; any other is let pass.

    Raises:
        ConfigError: It has no model, or one whose name or key is missing.
    """
    find = _MODELS.get(tool.function)
    if find is not None:
        find()


def _same(value: V) -> V:
    return value


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _template_of(name: str, instructions: str | PromptTemplate) -> PromptTemplate:
    if isinstance(instructions, PromptTemplate):
        return instructions
    if not isinstance(cast("object", instructions), str):
        raise ConfigError(f"agent {name!r}: instructions are text or a template")
    return PromptTemplate(id="instructions", version="1", task=instructions)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _signature_of(
    name: str, inputs: type
) -> tuple[inspect.Signature, Callable[[Mapping[str, object]], Mapping[str, object]]]:
    """Return the inputs of an agent as the parameters of a function, and what validates them.

    Raises:
        ConfigError: They are of no such type, or one has a name that `run` takes itself.
    """
    if is_typeddict(inputs):
        said = cast("frozenset[str]", getattr(inputs, "__required_keys__"))  # noqa: B009  of a TypedDict, which has no type of its own
        hints = get_type_hints(inputs, include_extras=True)
        fields = {each: _field(kind, is_required=each in said) for each, kind in hints.items()}
        kinds = {each: kind for each, (kind, _) in fields.items()}
        defaults: Mapping[str, object] = {
            each: None for each, (_, is_required) in fields.items() if not is_required
        }
        validated = _same
    elif hasattr(inputs, "model_fields"):
        from lineshaft.agents._inputs import fields_of, validator_of  # noqa: PLC0415  imports pydantic, which is slow

        kinds, defaults = fields_of(inputs)
        validated = validator_of(inputs)
    else:
        raise ConfigError(
            f"agent {name!r}: inputs is {inputs!r}", hint="give a TypedDict or a pydantic model"
        )
    for taken in sorted(kinds.keys() & (_OWN_ARGUMENTS | SessionArguments.__annotations__.keys())):
        raise ConfigError(f"agent {name!r}: an input is named {taken!r}, as `run` takes it itself")
    for each in kinds:
        if not each.isidentifier() or iskeyword(each):
            hint = "its name is one of a parameter"
            raise ConfigError(f"agent {name!r}: an input is named {each!r}", hint=hint)
    parameters = inspect.Signature(
        [
            inspect.Parameter(
                each,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=kind,
                default=defaults.get(each, inspect.Parameter.empty),
            )
            for each, kind in kinds.items()
        ]
    )
    return parameters, validated


def _field(hint: object, *, is_required: bool) -> tuple[object, bool]:
    """Return the type of a TypedDict's field, and whether the field is required.

    Args:
        hint: The annotation of the field.
        is_required: What the class says, which cannot read annotations that are text.
    """
    if get_origin(hint) in (Required, NotRequired):
        return get_args(hint)[0], get_origin(hint) is Required
    if get_origin(hint) is not Annotated:
        return hint, is_required
    inner, *notes = get_args(hint)
    bare, is_required = _field(inner, is_required=is_required)
    return cast("dict[object, object]", Annotated)[(bare, *notes)], is_required


_RETURNS = inspect.Parameter(
    RETURNS,
    inspect.Parameter.KEYWORD_ONLY,
    annotation=Annotated[
        Any,
        "The type of the result: in a script a type such as Literal or a TypedDict, or its"
        " JSON Schema; anything is a result where it is left out.",
    ],
    default=None,
)


def _exit_for(schema: object) -> ExitTool | None:
    """Return what takes a result of a schema that is given at the call; None: there is none.

    Raises:
        ToolError: It is no JSON Schema.
    """
    if schema is None:
        return None
    if not isinstance(schema, Mapping):
        text = f"`returns` is {schema!r}, which is no JSON Schema"
        raise ToolError("E_INVALID_ARGS", text, hint='such as {"enum": ["bug", "question"]}')
    try:
        return ExitTool(cast("Mapping[str, object]", schema))
    except ConfigError as error:
        raise ToolError("E_INVALID_ARGS", f"`returns`: {error.message}", hint=error.hint) from None


def _offer(name: str, tool: Tool[..., Any]) -> OfferedTool:
    takes = published(tool.spec)
    whole = tool.spec.calls_as == "script"  # it tells of all other tools
    about = tool.spec.description if whole else takes.description
    return OfferedTool(name=name, description=about, input_schema=takes.schema)


def _tell(context: Context, budget: Budget, event: AgentEvent) -> None:
    """Put an event of the loop into the record; calls and requests are there anyway."""
    match event.kind:
        case "turn":
            context.progress(event.turn, budget.turns, f"turn {event.turn}")
        case "refused":
            context.log(f"turn {event.turn}: the result was refused: {event.data['reason']}")
        case "retry":
            context.log(f"turn {event.turn}: asked again: {event.data['message']}")
        case "as_schema":
            context.log(f"turn {event.turn}: the model called no tool; from now on by schema")
        case _:
            pass
