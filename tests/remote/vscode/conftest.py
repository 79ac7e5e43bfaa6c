"""One editor for a file of tests, and a screenshot of each failing one, in `build/screenshots`."""

from collections.abc import Generator

import pytest

from remote.vscode.editor import ROOT, VsCode, vscode

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on a test that it failed, for the fixture that has the window."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def one_editor(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    with vscode(tmp_path_factory.mktemp("editor")) as started:
        yield started


@pytest.fixture
def editor(one_editor: VsCode, request: pytest.FixtureRequest) -> Generator[VsCode]:
    """The editor with an empty folder."""
    one_editor.clear()
    yield one_editor
    if FAILED in request.node.stash:
        one_editor.shoot(ROOT / "build" / "screenshots", request.node.name)
