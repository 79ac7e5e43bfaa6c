"""Fixtures for every test, and what a missing part of the machine means."""

import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import psutil
import pytest
from coverage import Coverage
from hypothesis import settings

from forked.programs import Programs, forked_programs
from measuring import programs_settings
from native import vouch_for_native_code

EVERYTHING = os.environ.get("DEV_TEST_ALL") == "1"
"""Set by `./dev test --all`: a test that is skipped there has failed."""

QUICK = os.environ.get("DEV_TEST_QUICK") == "1"
"""Set by `./dev test` without a path: what needs more than Python, or long, is left out."""

LEFT_OUT = (
    "azure_sdk/test_convert.py",
    "azure_sdk/test_ended.py",
    "azure_sdk/test_java.py",
    "azure_sdk/test_newest_node.py",
    "azure_sdk/test_spelling.py",
    "azure_sdk/test_tsp_client.py",
    "azure_sdk/test_typespec.py",
    "behaviour/test_evaluation.py",
    "behaviour/test_own_folders.py",
    "behaviour/test_preview_and_undo.py",
    "behaviour/test_python_",
    "behaviour/test_scale.py",
    "cli/test_editor_command.py",
    "cli/test_mcp_answers.py",
    "cli/test_mcp_commands.py",
    "cli/test_newcomer.py",
    "cli/test_on_a_terminal.py",
    "cli/test_printed_commands.py",
    "cli/test_python_command.py",
    "cli/test_resume_command.py",
    "cli/test_servers_needed.py",
    "cli/test_short_ways.py",
    "cli/test_signals.py",
    "config/test_providers.py",
    "control/test_after_crash.py",
    "control/test_killed_hosts.py",
    "engines/cpython",
    "engines/test_corpora.py",
    "engines/test_hosts.py",
    "engines/wasm/test_wasm_many.py",
    "engines/wasm/test_wasm_packages.py",
    "evals/test_hostile_code.py",
    "evals/test_report.py",
    "evals/test_sweep.py",
    "evals/test_tasks.py",
    "hostile",
    "landing",
    "mcp/test_access.py",
    "mcp/test_access_by_assertion.py",
    "mcp/test_conformance_",
    "mcp/test_links.py",
    "mcp/test_notes_of_servers.py",
    "mcp/test_real_servers.py",
    "mcp/test_serve_http.py",
    "mcp/test_serve_stdio.py",
    "mcp/test_servers_that_end.py",
    "peers",
    "processes/test_process_tree.py",
    "remote/test_host.py",
    "remote/vscode",
    "sandbox/bundle",
    "sandbox/jail",
    "store/test_kills.py",
    "testing",
    "typing",
)
"""Jails, full Python, servers, editors, compilers, killed hosts; and tests with `cpython` in it."""

UNTIL = float(os.environ.get("DEV_TEST_UNTIL", "inf"))
"""Seconds since 1970 at which the time of this part is over; set by `dev` where CI has a limit."""

ELSEWHERE = "platform:"
"""How the reason of a skip starts that is no missing part: the test is for another platform."""

OVER = "time:"
"""How the reason of a skip starts that CI had no time for, on a slow machine."""

Require = Callable[[str], str]

settings.register_profile("unhurried", deadline=None)  # how fast it is, is no test's business
settings.load_profile("unhurried")


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio: the engines need it."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what runs leave for later out of the person's own folders."""
    state = tmp_path_factory.mktemp("state")
    vouch_for_native_code(state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(state))
        yield


@pytest.fixture
def require() -> Require:
    """Return a function that finds a command, or skips the test with the reason."""

    def find(command: str) -> str:
        beside = str(Path(sys.executable).parent)
        found = shutil.which(command, path=beside) or shutil.which(command)
        if found is None:
            pytest.skip(f"needs {command!r}, which is not installed here")
        return found

    return find


@pytest.fixture
def started() -> Callable[[], list[psutil.Process]]:
    """Return a function that tells which processes the test has started and not ended.

    An engine that other tests of this worker share has processes too, and starts more.
    """
    others = psutil.Process().children()

    def found() -> list[psutil.Process]:
        own = [child for child in psutil.Process().children() if child not in others]
        return [*own, *(below for child in own for below in child.children(recursive=True))]

    return found


@pytest.fixture(scope="session", autouse=True)
def _signals() -> None:
    """Ignore no signal that programs of tests are ended by, also behind `nohup` and `&`."""
    ended = {"SIGINT": signal.default_int_handler, "SIGTERM": signal.SIG_DFL}
    for name, handler in (ended | {"SIGHUP": signal.SIG_DFL}).items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def _programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have programs that tests start measure what they execute, where coverage is measured.

    With its `patch = subprocess` each would also list all that it has not executed, at its end.
    """
    measuring = Coverage.current()
    with pytest.MonkeyPatch.context() as patch:
        if measuring is not None:
            file = tmp_path_factory.mktemp("coverage") / "settings.ini"
            file.write_text(programs_settings(measuring), encoding="utf-8")
            patch.setenv("COVERAGE_PROCESS_START", str(file))
        yield


@pytest.fixture(scope="session")
def programs() -> Iterator[Programs]:
    """Run programs of Lineshaft in processes that need not import it first."""
    with forked_programs() as one:
        yield one


@pytest.fixture(autouse=True)
def _measured() -> Iterator[None]:
    """Go on measuring after a test that ran out of stack, which ends all tracing on Python 3.11."""
    yield
    measuring = Coverage.current()
    if measuring is not None and sys.version_info < (3, 12) and sys.gettrace() is None:
        measuring.stop()
        measuring.start()


def _is_long(item: pytest.Item) -> bool:
    path = item.nodeid.removeprefix("tests/")
    marked = item.get_closest_marker("long") is not None
    return marked or path.startswith(LEFT_OUT) or "[cpython" in path or "-cpython" in path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have long tests come last where there is an end of time: most have run by then."""
    if math.isfinite(UNTIL):
        items.sort(key=_is_long)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what is not run in a hurry, or for which there is no time; it is counted."""
    if QUICK and _is_long(item):
        pytest.skip("needs more than Python, or long: ./dev test --all runs it")
    if time.time() > UNTIL:
        Path(os.environ["DEV_TEST_CUT"]).touch()
        pytest.skip(f"{OVER} its part's share is over")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything must run."""
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail")
    allowed = any(reason in report.longreprtext for reason in (ELSEWHERE, OVER))
    if EVERYTHING and skipped and not allowed:
        report.outcome = "failed"
        report.longrepr = f"skipped, where every part must be there: {report.longreprtext}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the skip of a whole file into a failure where everything must run."""
    report = yield
    if EVERYTHING and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, where every part must be there: {report.longreprtext}"
    return report
