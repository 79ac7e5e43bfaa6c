"""Tools that look around: list, find, search. Written on `walk` and `read` alone."""

from collections.abc import AsyncIterator

from lineshaft.kit._failures import invalid, raised_by_calls
from lineshaft.kit._glob import Glob
from lineshaft.kit._results import Entries, FileEntry, Matches, entry
from lineshaft.kit._searching import Search
from lineshaft.tools import WorkspacePath, tool
from lineshaft.values import Context, Entry

LIST_ENTRIES = 200
FIND_ENTRIES = 10_000
CONTEXT_LINES = 20


@tool(effect="read", idempotent=True)
async def list_files(
    call: Context, path: WorkspacePath = ".", *, recursive: bool = False
) -> Entries:
    """List a folder: files, folders and symlinks, hidden ones too, at most 200.

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
        return await _entries(found, LIST_ENTRIES)


@tool(effect="read", idempotent=True)
async def find_files(pattern: str, call: Context, path: WorkspacePath = ".") -> Entries:
    """Find files and folders by a pattern for their path, at most 10,000.

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

        async def matching() -> AsyncIterator[Entry]:
            async for found in call.workspace.walk(path, depth=glob.depth):
                if glob.folders_only and found.kind != "folder":
                    continue
                if glob.matches(_relative(found.path, root)):
                    yield found

        return await _entries(matching(), FIND_ENTRIES)


def _relative(path: str, root: str) -> str:
    if root == ".":
        return path.removeprefix("./")
    return path.removeprefix(f"{root}/")


async def _entries(found: AsyncIterator[Entry], limit: int) -> Entries:
    entries: list[FileEntry] = []
    async for one in found:
        if len(entries) == limit:
            return {"entries": entries, "truncated": True}
        entries.append(entry(one))
    return {"entries": entries, "truncated": False}


@tool(effect="read", idempotent=True)
async def search_text(
    pattern: str,
    call: Context,
    path: WorkspacePath = ".",
    context: int = 0,
    *,
    ignore_case: bool = False,
) -> Matches:
    r"""Search the text files of a folder, or one file, for a regular expression; at most 50 lines.

    `^` and `$` match at each line. Binary files and what `.gitignore` files name are left out.

    Args:
        pattern: A Python regular expression, such as `def \w+_test\(`.
        call: The call.
        path: The folder or file.
        context: How many lines to give before and after each match.
        ignore_case: Whether upper and lower case are the same.
    """
    if not 0 <= context <= CONTEXT_LINES:
        raise invalid(f"`context` is {context}: it may be 0 to {CONTEXT_LINES}")
    search = Search(pattern, context=context, ignore_case=ignore_case)
    with raised_by_calls():
        await search.run(call.workspace, path)
    return {"matches": search.matches, "truncated": search.truncated}
