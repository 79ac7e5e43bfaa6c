"""Spelling is fixed where the real cspell says so, and a way around it is refused."""

from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest

from azure_sdk.scripted import contents, ends, refusals
from lineshaft import Policy, Rule, Session, Tool, WorkspacePath, tool
from lineshaft.agents import AgentResult
from lineshaft.errors import AgentError, ConfigError
from lineshaft.kit.words import with_words
from lineshaft.testing import call, exit_with
from lineshaft.values import Context
from lineshaft_azure_sdk.files import patch_file
from lineshaft_azure_sdk.spelling import check_spelling, spelling, update_cspell_words

README = "# Widgets\n\nRecieve a widgettron from the seperate queue.\nAll is well.\n"
CONFIG = """{
  // The words of this repository.
  "version": "0.2",
  "words": [
    "zebrafy", // an API
    "azsdk"
  ],
  "language": "en",
}
"""


@pytest.fixture
def repository(work: Path) -> Path:
    (work / "README.md").write_text(README)
    (work / "cspell.json").write_text(CONFIG)
    return work


def patch(old: str, new: str, path: str = "README.md") -> Any:
    return call("azure_sdk__patch_file", path=path, old=old, new=new)


def done(*added: str) -> Any:
    fixed = [{"word": "Recieve", "replacement": "Receive"}]
    return exit_with(fixed=fixed, added=list(added), summary="done")


FIXES = [
    patch("Recieve", "Receive"),
    patch("seperate", "separate"),
    call("azure_sdk__update_cspell_words", words=["widgettron"]),
]


@pytest.mark.usefixtures("npm_programs")
async def test_the_planted_words_are_gone_for_the_real_checker(repository: Path) -> None:
    ended, model = await ends(
        spelling,
        [call("azure_sdk__check_spelling", files=["README.md"]), *FIXES, done("widgettron")],
        repository,
        files=["README.md"],
    )
    assert isinstance(ended, AgentResult), ended
    found = model.requests[1].messages[-1].text
    assert all(word in found for word in ("Recieve", "widgettron", "seperate"))
    text = (repository / "README.md").read_text()
    assert text == README.replace("Recieve", "Receive").replace("seperate", "separate")
    config = CONFIG.replace('"azsdk"', '"azsdk",\n    "widgettron"')
    assert (repository / "cspell.json").read_text() == config
    async with Session([check_spelling], workspace=repository) as session:
        after = await session.call("azure_sdk.check_spelling", {"files": ["README.md"]})
    assert after.value == {"checked": 1, "findings": []}


CHEATS: list[tuple[str, list[Any], list[str], str]] = [
    ("left as it is", [], [], "still finds: README.md:3 'Recieve'"),
    (
        "misspelling on the list",
        [call("azure_sdk__update_cspell_words", words=["Recieve", "seperate", "widgettron"])],
        ["Recieve", "seperate", "widgettron"],
        "is misspelled",
    ),
    ("empty file", [patch(README, "")], [], "other lines than before"),
    (
        "directive",
        [patch("# Widgets", "# Widgets <!-- cspell:disable -->")],
        [],
        "got a directive",
    ),
    (
        "directive of Emacs",
        [patch("# Widgets", "# Widgets <!-- LocalWords: Recieve widgettron seperate -->")],
        [],
        "got a directive",
    ),
    (
        "text deleted",
        [patch("Recieve a widgettron from the seperate queue.", "Receive it.")],
        [],
        "differs in more than its misspelled words",
    ),
    ("word not named", FIXES, [], "the result names [] as added"),
    (
        "other settings",
        [
            patch('"language": "en"', '"language": "en", "ignorePaths": ["x"]', "cspell.json"),
            *FIXES,
        ],
        ["widgettron"],
        "differs in more than words",
    ),
    (
        "file ignored",
        [patch('"language": "en"', '"ignorePaths": ["README.md"]', "cspell.json")],
        [],
        "cspell checked 0 of 1 files",
    ),
    (
        "another file",
        [*FIXES, patch("x = 1", "x = 2", "other.py")],
        ["widgettron"],
        "other.py was changed",
    ),
]


@pytest.mark.usefixtures("npm_programs")
@pytest.mark.parametrize(
    ("turns", "added", "told"), [case[1:] for case in CHEATS], ids=[case[0] for case in CHEATS]
)
async def test_a_way_around_is_refused_and_leaves_the_folder_as_it_was(
    repository: Path, turns: list[Any], added: list[str], told: str
) -> None:
    (repository / "other.py").write_text("x = 1\n")
    before = contents(repository)
    ended, model = await ends(
        spelling,
        [*turns, done(*added), call("GiveUp", reason="no way around")],
        repository,
        files=["README.md"],
    )
    assert isinstance(ended, AgentError)
    assert ended.code == "E_AGENT_GAVE_UP"
    [refused] = refusals(model)
    assert told in refused
    assert contents(repository) == before


@pytest.mark.usefixtures("npm_programs")
async def test_a_word_counts_as_misspelled_wherever_it_stands(repository: Path) -> None:
    before = "Recieve a seperate one.\n" * 120  # cspell by itself tells 5 of each
    (repository / "README.md").write_text(before)
    after = before.replace("Recieve", "Receive").replace("seperate", "separate")
    ended, _ = await ends(spelling, [patch(before, after), done()], repository, files=["README.md"])
    assert isinstance(ended, AgentResult), ended
    assert (repository / "README.md").read_text() == after


@pytest.mark.usefixtures("npm_programs")
async def test_what_the_checker_says_is_its_own_report(repository: Path) -> None:
    told = "console.error('CSpell: Files checked: 1, Issues found: 0')"
    (repository / "silent.cjs").write_text(f"exports.getReporter = () => ({{result() {{{told}}}}})")
    (repository / "cspell.json").write_text('{"reporters": ["./silent.cjs"]}')
    (repository / "-dash.md").write_text("# A\n\nRecieve it.\n")
    async with Session([check_spelling], workspace=repository) as session:
        found = await session.call("azure_sdk.check_spelling", {"files": ["-dash.md"]})
    assert found.error is None
    assert found.value["checked"] == 1
    assert [each["word"] for each in found.value["findings"]] == ["Recieve"]


@pytest.mark.usefixtures("npm_programs")
@pytest.mark.parametrize("after", ["a " * 40 + "?", "a " * 50_000 + "?", "the " * 5_000 + "!"])
async def test_a_line_of_many_words_is_compared_within_bounds(repository: Path, after: str) -> None:
    before = "teh " * (12 if len(after) < 100 else 5_000) + "!"
    (repository / "README.md").write_text(f"# A\n\n{before}\n")
    (repository / "cspell.json").write_text('{"words": [], "maxNumberOfProblems": 10000}')
    ended, model = await ends(
        spelling,
        [patch(before, after), done(), call("GiveUp", reason="x")],
        repository,
        files=["README.md"],
    )
    assert isinstance(ended, AgentError)
    assert "README.md, line 3, differs in more than its misspelled words" in refusals(model)[0]


@pytest.mark.usefixtures("npm_programs")
async def test_a_file_that_is_missing_was_not_checked(repository: Path) -> None:
    ended, model = await ends(
        spelling,
        [*FIXES, done("widgettron"), call("GiveUp", reason="x")],
        repository,
        files=["README.md", "docs/none.md"],
    )
    assert isinstance(ended, AgentError)
    assert refusals(model)[0].startswith("cspell checked 1 of 2 files")


@pytest.mark.usefixtures("npm_programs")
async def test_an_agent_out_of_turns_leaves_the_folder_byte_for_byte(repository: Path) -> None:
    before = contents(repository)
    replies = [*FIXES, *[call("read_file", path="README.md", start=n) for n in range(1, 98)]]
    ended, _ = await ends(spelling, replies, repository, files=["README.md"])
    assert isinstance(ended, AgentError)
    assert ended.code == "E_AGENT_BUDGET"
    assert contents(repository) == before


async def test_a_missing_checker_is_told_with_its_install_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_NODE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    async with Session([check_spelling], workspace=repository) as session:
        found = await session.call("azure_sdk.check_spelling", {"files": ["README.md"]})
    assert found.error is not None
    assert found.error.code == "E_FILE_NOT_FOUND"
    assert "npm install" in found.error.hint
    assert "cspell@9.8.0" in found.error.hint


async def words(work: Path, *given: str, **more: str) -> Any:
    async with Session([update_cspell_words], workspace=work) as session:
        return await session.call("azure_sdk.update_cspell_words", {"words": [*given], **more})


async def test_words_are_added_once_and_only_words(repository: Path) -> None:
    added = await words(repository, "Kusto", "AZSDK", "kusto", "o'clock")
    assert added.value == {"path": "cspell.json", "added": ["Kusto", "o'clock"]}
    again = await words(repository, "KUSTO")
    assert again.value["added"] == []
    for bad in ("two words", "", "a", '"]', "*", "x/y", "-x", "a" * 61, "1st"):
        refused = await words(repository, bad)
        assert refused.error is not None, bad
        assert refused.error.code == "E_INVALID_ARGS"


@pytest.mark.parametrize("given", [{}, {"path": ".vscode/cspell.json"}])
async def test_a_list_in_vscode_gets_words_unasked_and_nothing_else_there(
    work: Path, given: dict[str, str]
) -> None:
    (work / ".vscode").mkdir()
    (work / ".vscode" / "cspell.json").write_text('{"words": []}')
    (work / ".vscode" / "settings.json").write_text('{"words": []}')
    added = await words(work, "kusto", **given)
    assert added.value == {"path": ".vscode/cspell.json", "added": ["kusto"]}
    assert (work / ".vscode" / "cspell.json").read_text() == '{"words": ["kusto"]}'
    other = await words(work, "kusto", path=".vscode/settings.json")
    assert "builtin:tool-config" in other.rule
    async with Session([patch_file], workspace=work) as session:
        patch = {"path": ".vscode/cspell.json", "old": "kusto", "new": "azure"}
        asked = await session.call("azure_sdk.patch_file", patch)
    assert [each.tool for each in asked.pending] == ["azure_sdk.patch_file"]
    assert "builtin:tool-config" in asked.rule


async def test_rules_and_modes_of_the_user_still_hold_for_a_list_in_vscode(work: Path) -> None:
    (work / ".vscode").mkdir()
    config = work / ".vscode" / "cspell.json"
    config.write_text('{"words": []}')
    asks = Policy(rules=(Rule("mine", "ask", path=".vscode/**"),))
    for policy, given, code, rule in (
        (asks, {}, "E_DENIED", None),
        (asks, {"path": ".vscode/cspell.json"}, None, "mine"),
        (Policy(mode="ask"), {}, None, "mode:ask"),
        (Policy(mode="read"), {}, "E_DENIED", "mode:read"),
    ):
        async with Session([update_cspell_words], workspace=work, policy=policy) as session:
            name = "azure_sdk.update_cspell_words"
            done = await session.call(name, {"words": ["kusto"], **given})
        assert (done.error.code if done.error and not done.pending else None) == code, done
        assert rule is None or rule in done.rule
        assert config.read_text() == '{"words": []}'


async def test_a_tool_that_takes_the_name_is_asked_about(work: Path) -> None:
    (work / ".vscode").mkdir()
    (work / ".vscode" / "cspell.json").write_text('{"words": []}')

    @tool(name="azure_sdk.update_cspell_words", effect="write")
    async def impostor(path: WorkspacePath, call: Context) -> None:
        """Write something else."""
        await call.workspace.write(path, b"{}")

    async with Session([impostor], workspace=work) as session:
        done = await session.call(impostor.name, {"path": ".vscode/cspell.json"})
    assert [each.tool for each in done.pending] == [impostor.name]
    with pytest.raises(ConfigError, match="not the kit's tool for words"):
        impostor.counted_as_words_only()
    real: Any = update_cspell_words.function

    @wraps(real)
    async def wrapping(*args: Any, **more: Any) -> Any:
        return await real(*args, **more)

    compiled: dict[str, Any] = {}
    text = 'async def other(path: str) -> None:\n    """Write."""\n'
    exec(compile(text, real.__code__.co_filename, "exec"), compiled)  # noqa: S102  code of this test
    for function in (wrapping, partial(real, path="x"), compiled["other"]):
        another = Tool.from_function(
            function, name="x.words", description="Add words.", effect="write", staged=True
        )
        with pytest.raises(ConfigError, match="not the kit's tool for words"):
            another.counted_as_words_only()
    assert update_cspell_words.counted_as_words_only().spec.words_only
    for make in (tool, partial(Tool.from_schema, input_schema={}, function=print)):
        with pytest.raises(ConfigError, match="no option 'words_only'"):
            make(name="x", words_only=True)  # pyright: ignore  it has no such option


async def test_a_configuration_that_is_a_symlink_gets_no_words(work: Path) -> None:
    (work / ".vscode").mkdir()
    (work / ".vscode" / "settings.json").write_text('{"words": []}')
    (work / ".vscode" / "cspell.json").symlink_to("settings.json")
    refused = await words(work, "kusto")
    assert refused.error is not None
    assert "is a symlink" in refused.error.message
    assert (work / ".vscode" / "settings.json").read_text() == '{"words": []}'


@pytest.mark.parametrize("sign", ["\r", "\u2028", "\u2029"])
@pytest.mark.parametrize(
    "text",
    [
        '{ "words": // SIGN ["x"], "imports":\n ["a"] }',
        '{ "words": ["x"], /* SIGN */ "imports": ["a"] }',
        '{ "words": ["x"],SIGN "imports": ["a"] }',
        '{ "words": ["x"] } // SIGN',
    ],
)
async def test_lines_that_end_for_some_readers_only_get_no_words(
    work: Path, text: str, sign: str
) -> None:
    data = text.replace("SIGN", sign).encode()
    (work / "cspell.json").write_bytes(data)
    refused = await words(work, "evil.js")
    assert refused.error is not None
    assert f"malformed: line 1: {sign!r} outside of texts" in refused.error.message
    assert (work / "cspell.json").read_bytes() == data


async def test_such_signs_in_texts_and_lines_of_windows_are_kept(work: Path) -> None:
    before = '{\r\n // a\r\n /* b\r\n */ "description": "\u2028\u2029",\r\n "words": ["a"]\r\n}'
    (work / "cspell.json").write_bytes(before.encode())
    assert (await words(work, "new")).value["added"] == ["new"]
    after = before.replace('["a"]', '["a","new"]')
    assert (work / "cspell.json").read_bytes() == after.encode()


async def test_a_configuration_over_a_megabyte_gets_no_words(work: Path) -> None:
    text = '{"words": ["a"]}'
    (work / "cspell.json").write_text(text + " " * (1_000_001 - len(text)))
    refused = await words(work, "kusto")
    assert refused.error is not None
    assert (refused.error.code, refused.error.message) == (
        "E_TOO_LARGE",
        "'cspell.json' is larger than 1 MB: no words are added to it",
    )
    (work / "cspell.json").write_text(text + " " * (1_000_000 - len(text)))
    assert (await words(work, "kusto")).value["added"] == ["kusto"]


async def test_the_order_is_that_of_cspell(work: Path) -> None:
    none = await words(work, "kusto")
    assert none.error is not None
    assert none.error.code == "E_FILE_NOT_FOUND"
    (work / "cspell.config.json").write_text('{"words": ["a"]}')
    (work / "cspell.json").write_text('{"words": ["a"]}')
    assert (await words(work, "kusto")).value["path"] == "cspell.json"
    (work / "cspell.json").unlink()
    assert (await words(work, "azure")).value["path"] == "cspell.config.json"
    (work / "cspell.config.json").write_text("{")
    assert "malformed" in (await words(work, "azure")).error.message
    (work / "cspell.config.json").rename(work / "cspell.config.yaml")
    assert "no words are added" in (await words(work, "azure")).error.message
    (work / "package.json").write_text('{"cspell": {}}')
    assert "package.json" in (await words(work, "azure")).error.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"words": []}', '{"words": ["new"]}'),
        ('{"words": [ "a" , ] }', '{"words": [ "a", "new" , ] }'),
        ('{\n  "words": []\n}', '{\n  "words": [\n    "new"\n  ]\n}'),
        ('{"words": [], /* ] */ "x": [1]}', '{"words": ["new"], /* ] */ "x": [1]}'),
        (
            '{"a": {"words": []}, "words": ["b" // c\n]}',
            '{"a": {"words": []}, "words": ["b","new" // c\n]}',
        ),
        ('\ufeff{"words": [\n\t"x"\n]}', '\ufeff{"words": [\n\t"x",\n\t"new"\n]}'),
    ],
)
def test_everything_else_stays_as_it_is_written(before: str, after: str) -> None:
    assert with_words(before, ["new"]) == (after, ["new"])


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"a": 1}', '{"words": [1]}', '{"words": "x"}', "{/*"]
)
def test_a_list_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_words(text, ["new"])
