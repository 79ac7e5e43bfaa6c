"""What a user gets, and what a user gives, says of each field what it is."""

import ast
import inspect

import pytest

import lineshaft
from lineshaft import agents, evals, models, policy, store, values
from lineshaft.evals.report.summary import VariantRow
from lineshaft.evals.solving.agent import Spending
from lineshaft.mcp.front import HttpOptions
from lineshaft.values import Struct

GIVEN = (
    *(values.CallError, values.CallRecord, values.Change, values.Command, values.Content),
    *(values.Context, values.Entry, values.Event, values.Exit, values.Finding, values.Handled),
    *(values.Limits, values.ModelUsage, values.Pending, values.Preview, values.RunError),
    *(values.RunResult, values.ShownImage, values.Usage, policy.Rule, store.Pruned),
    *(store.RunSummary, agents.AgentResult, agents.AgentUsage, evals.CellResult),
    *(evals.Judgement, VariantRow, Spending, HttpOptions, agents.AgentEnd, agents.AgentEvent),
    *(agents.Budget, agents.Seams, models.CallAnswer, models.ModelPrice, models.ModelReply),
    *(models.ModelRequest, models.OfferedTool, models.UserMessage, values.Answer, values.Call),
    *(values.Crashed, values.DecodedText, values.Diagnostic, values.Diverged, values.Exceeded),
    *(values.Failure, values.Line, values.Raised, values.Resolved, values.ToolSpec, values.Verdict),
)
EXPORTED = [getattr(lineshaft, name) for name in lineshaft.__all__]
STRUCTS = {each for each in EXPORTED if inspect.isclass(each) and issubclass(each, Struct)}


def without_words(cls: type[object]) -> list[str]:
    """Return the fields of a class below which no docstring stands."""
    (found,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(found, ast.ClassDef)
    return [
        field.target.id
        for field, below in zip(found.body, [*found.body[1:], None], strict=True)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant))
    ]


NAMED: dict[str, type[object]] = {cls.__name__: cls for cls in (*GIVEN, *STRUCTS)}


@pytest.mark.parametrize("name", sorted(NAMED))
def test_each_field_of_a_result_says_what_it_is(name: str) -> None:
    assert without_words(NAMED[name]) == []


class _Silent(Struct):
    told: int
    """Something."""

    silent: int


def test_a_field_without_words_is_found() -> None:
    assert without_words(_Silent) == ["silent"]
