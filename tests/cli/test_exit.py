"""Every error has an exit code."""

from collections.abc import Iterator

import pytest

from lineshaft.cli._exit import EXIT_BY_ERROR, exit_code
from lineshaft.errors import AgentError, ConfigError, LimitExceeded, LineshaftError, ToolError


def _tree(branch: type[LineshaftError]) -> Iterator[type[LineshaftError]]:
    for kind in branch.__subclasses__():
        if kind.__module__ == "lineshaft.errors":
            yield kind
            yield from _tree(kind)


@pytest.mark.parametrize(
    "branch", [k for k in _tree(LineshaftError) if LineshaftError in k.__bases__]
)
def test_every_branch_of_the_tree_has_a_line_in_the_table(branch: type[LineshaftError]) -> None:
    assert branch in EXIT_BY_ERROR


@pytest.mark.parametrize("kind", list(_tree(LineshaftError)))
def test_no_error_ends_in_success_and_only_configuration_in_two(kind: type[LineshaftError]) -> None:
    error = kind("E_OF_ITS_KIND", "x") if kind in (ToolError, AgentError) else kind("x")
    assert exit_code(error) != 0
    assert (exit_code(error) == 2) == issubclass(kind, ConfigError)


def test_limits_and_refusals_have_codes_of_their_own() -> None:
    assert exit_code(LimitExceeded("too long")) == 4
    assert exit_code(ToolError("E_DENIED", "no")) == 3
