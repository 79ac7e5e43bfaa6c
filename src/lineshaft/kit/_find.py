"""Tools that look around: list, find, search. Written on `walk` and `read` alone."""

from collections.abc import AsyncIterator

from lineshaft.kit._bounds import Bound
from lineshaft.kit._failures import invalid, raised_by_calls
from lineshaft.kit._glob import Glob
from lineshaft.kit._results import Entries, FileEntry, Matches, entry
from lineshaft.kit._searching import Search
from lineshaft.tools import WorkspacePath, tool
from lineshaft.values import Context, Entry

DIRECT_ENTRIES = 200
CONTEXT_LINES = 20


@tool(effect="read", idempotent=True)
async def list_files(
    call: Context, path: WorkspacePath = ".", *, recursive: bool = False
) -> Entries:
    """List a folder: files, folders and symlinks, hidden ones too; at most 200 in a direct call.

    With `recursive` everything below it is listed, except what `.gitignore` files name; to look for
    names, `find_files` is better.

    Args:
        call: The call.
        path: The folder.
        recursive: Also what is in its folders.
    """
    depth = None if recursive else 1
    with raised_by_calls():
        found = call.workspace.walk(path, ignore=recursive, depth=depth)
        return await _entries(found, call)


@tool(effect="read", idempotent=True)
async def find_files(pattern: str, call: Context, path: WorkspacePath = ".") -> Entries:
    """Find files and folders by a pattern for their path; at most 200 in a direct call.

    `*` and `?` stay within a name, `**` stands for any number of folders: `*.py` finds in the
    folder itself, `**/*.py` at any depth, `src/**/test_*.{py,toml}` below `src`. What `.gitignore`
    files name is left out.

    Args:
        pattern: The pattern, relative to `path`.
        call: The call.
        path: The folder to look in.
    """
    glob = Glob(pattern)
    with raised_by_calls():
        root = (await call.workspace.resolve(path)).path

        closed: list[str] = []

        async def matching() -> AsyncIterator[Entry]:
            async for found in call.workspace.walk(path, depth=glob.depth):
                if found.closed:
                    closed.append(found.path)
                if glob.folders_only and found.kind != "folder":
                    continue
                if glob.matches(_relative(found.path, root)):
                    yield found

        return {**await _entries(matching(), call), "unreadable": closed}


def _relative(path: str, root: str) -> str:
    if root == ".":
        return path.removeprefix("./")
    return path.removeprefix(f"{root}/")


async def _entries(found: AsyncIterator[Entry], call: Context) -> Entries:
    bound = Bound(call, direct=DIRECT_ENTRIES, hint="List or search a folder further down.")
    entries: list[FileEntry] = []
    closed: list[str] = []
    async for one in found:
        if not bound.takes([one.path]):
            break
        entries.append(entry(one))
        if one.closed:
            closed.append(one.path)
    return {"entries": entries, "truncated": bound.cut, "unreadable": closed}


@tool(effect="read", idempotent=True)
async def search_text(
    pattern: str,
    call: Context,
    path: WorkspacePath = ".",
    context: int = 0,
    *,
    ignore_case: bool = False,
) -> Matches:
    r"""Search the text files of a folder, or one file, for a regular expression.

    A direct call is given at most 50 matches, a script all of them. `^` and `$` match at each line.
    Binary files and what `.gitignore` files name are left out.

    Args:
        pattern: A Python regular expression, such as `def \w+_test\(`.
        call: The call.
        path: The folder or file.
        context: How many lines to give before and after each match.
        ignore_case: Whether upper and lower case are the same.
    """
    if not 0 <= context <= CONTEXT_LINES:
        raise invalid(f"`context` is {context}: it may be 0 to {CONTEXT_LINES}")
    search = Search(call, pattern, context=context, ignore_case=ignore_case)
    with raised_by_calls():
        await search.run(path)
    return {
        "matches": search.matches,
        "truncated": search.truncated,
        "unreadable": search.unreadable,
    }
