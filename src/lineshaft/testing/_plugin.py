"""The plugin of pytest: the fixture `scripted`, by which a test writes what models say.

pytest loads it at its start, in every project that has Lineshaft installed, so that it imports
nothing until a test asks for the fixture.
"""

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lineshaft.testing._model import Scripted, ScriptedModel

ScriptedAgents = Callable[..., "ScriptedModel"]
"""Makes a model out of replies by the name of the agent: `scripted(triage=[exit_with("bug")])`."""

_HAS_FAILED = pytest.StashKey[bool]()


@pytest.fixture
def scripted(request: pytest.FixtureRequest) -> Generator[ScriptedAgents]:
    """Make models that say to each microagent what the test has written down.

    `model = scripted(triage=[call("read_file", path="a.md"), exit_with(label="bug")])` is given to
    `triage.run(model=model)`, or to `triage.with_model(model)` in a session. A request beyond an
    agent's last reply is an error that names the agent; replies that are not asked for fail the
    test at its end.
    """
    from lineshaft.testing._model import ScriptedModel  # noqa: PLC0415  see above

    made: list[ScriptedModel] = []

    def scripted_model(**replies: "Iterable[Scripted]") -> ScriptedModel:
        model = ScriptedModel(replies)
        made.append(model)
        return model

    yield scripted_model
    if request.node.stash.get(_HAS_FAILED, False):  # what was left over then says nothing
        return
    left = [
        f"the agent {agent!r} did not ask for {count} of its replies"
        for model in made
        for agent, count in model.unused.items()
    ]
    if left:
        pytest.fail("scripted: " + "; ".join(left), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note that a test has failed."""
    report = yield
    if report.failed:
        item.stash[_HAS_FAILED] = True
    return report
