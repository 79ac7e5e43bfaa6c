"""The tool that runs a Python program."""

from lineshaft.kit.python.results import ProgramDidNotRun, ProgramRan
from lineshaft.tools import WorkspacePath, tool
from lineshaft.values import Context


@tool(effect="exec", jailed=True, needs_disk=False)
async def python_run(
    call: Context,
    code: str | None = None,
    file: WorkspacePath | None = None,
    args: list[str] | None = None,
) -> ProgramRan | ProgramDidNotRun:
    """Run a Python program in a jail or in WebAssembly, and return what it printed.

    Use it to compute, to parse and convert data, and to read or change many files at once. It is
    CPython with the standard library; modules of the workspace can be imported. It starts in the
    workspace's folder, which it can read and change; secrets files and `.git` are not there, and
    there is no network and no other program. Standard input is empty. Nothing but files persists:
    each call is a fresh process. Changes to files count once it has ended by itself, with any exit
    code; one that ran out of time changes nothing. Print what you want to see: 50,000 bytes of
    output are kept, 10,000 of errors. Use relative paths. Where `boundary` is `wasm` there are no
    threads and no compiled packages.

    Where `ok` is true it ran: look at `exitCode`. Where `ok` is false it could not be run, and
    `error` says why.

    Args:
        call: The call.
        code: The program's text; or give `file`.
        file: A Python file to run.
        args: What the program finds in `sys.argv` after its own name.
    """
    try:
        from lineshaft.kit.python.run import run_python  # noqa: PLC0415  heavy, at its first use
    except ImportError as error:  # not on every system
        text = f"Python programs cannot be held here: {error}"
        return {
            "ok": False,
            "error": {"code": "PYTHON_EXEC_FAILED", "message": text, "details": {}},
        }
    return await run_python(call, code=code, file=file, args=tuple(args or ()))
