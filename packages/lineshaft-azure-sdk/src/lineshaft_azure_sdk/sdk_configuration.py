"""The configuration of an SDK repository: which program builds, versions and describes a package.

Written in `eng/swagger_to_sdk_config.json`, in the section `packageOptions`; the names are those of
the schema of spec-gen-sdk.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast, get_args

from lineshaft.errors import ConfigError, FileMissing, ToolError
from lineshaft.kit import split_command
from lineshaft.kit.words import read_jsonc
from lineshaft.packs import ProjectProgram
from lineshaft.processes.programs import CommandOptions, PowerShellOptions, ProgramOptions
from lineshaft_azure_sdk.named_files import REPOSITORY, VARIABLE, named_files

SdkScript = Literal["Build", "UpdateChangelogContent", "UpdateVersion", "UpdateMetadata"]
"""The programs that are read."""

PLACE = "eng/swagger_to_sdk_config.json"
SECONDS = 300.0

_KEYS: Mapping[SdkScript, str] = {
    "Build": "buildScript",
    "UpdateChangelogContent": "updateChangelogContentScript",
    "UpdateVersion": "updateVersionScript",
    "UpdateMetadata": "updateMetadataScript",
}
VARIABLES: Mapping[SdkScript, tuple[str, ...]] = {
    "Build": ("PackagePath",),
    "UpdateChangelogContent": ("SdkRepoPath", "PackagePath"),
    "UpdateVersion": ("SdkRepoPath", "PackagePath", "ReleaseType", "Version", "ReleaseDate"),
    "UpdateMetadata": ("SdkRepoPath", "PackagePath"),
}
"""What each program is told, by name."""

_MOST_CHARACTERS = 10_000
_BESIDE_VARIABLES = re.compile(r"[A-Za-z0-9_./:=,+@-]*")
"""What may stand in one word with a variable: nothing that a shell would read."""

_INTERPRETER = re.compile(
    r"(?:.*[/\\])?(?:(?:ba|da|z|k|fi|c|tc)?sh|busybox|pwsh|powershell|cmd|python|pypy|node|deno|bun"
    r"|perl|ruby|php)[0-9.]*(?:\.exe)?",
    re.IGNORECASE,
)
_CODE_OPTION = re.compile(
    r"-[a-z]{0,3}[cempr]|/[ck]|(?i:--?(?:eval|print|com|command|enc|encodedcommand))|eval"
)
_CODE_IN_OPTION = re.compile(
    r"-[a-z]{0,3}[cempr]\{.*|(?i:--?(?:eval|print|command|encodedcommand)[=:].*)"
)
_NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""A run of Python leaves the files that were approved as they are."""


class NotConfigured(ConfigError):
    """The configuration is there and in order, and names no such program."""

    code = "E_NOT_CONFIGURED"


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkConfiguration:
    """The configuration of one repository."""

    repository: Path
    options: Mapping[str, object]
    """Of `packageOptions`."""

    @classmethod
    def read(cls, repository: Path) -> "SdkConfiguration":
        """Read the configuration of a repository.

        Raises:
            FileMissing: The repository has none.
            ConfigError: It is malformed.
        """
        file = repository / PLACE
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            hint = "run it in the root of an SDK repository"
            raise FileMissing(f"there is no {PLACE} in {repository.name!r}", hint=hint) from None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{PLACE} cannot be read: {error}") from error
        try:
            document = read_jsonc(text)
        except ValueError as error:
            raise ConfigError(f"{PLACE} is malformed: {error}") from error
        table = _table(document, PLACE)
        return cls(
            repository=repository,
            options=_table(table.get("packageOptions", {}), "packageOptions"),
        )

    def program(
        self, script: SdkScript, values: Mapping[str, str], *, seconds: float = SECONDS
    ) -> ProgramOptions:
        """Return the program that is configured, with values in place of `{Name}`.

        A command is split first; then each `{Name}` in each word is replaced, once and whatever the
        case, so that no value is split, quoted or replaced again.

        Args:
            script: Which program.
            values: By name; those of `VARIABLES`.
            seconds: Its time.

        Raises:
            NotConfigured: No such program is configured.
            ConfigError: It is malformed, or names a variable without a value.
            FileMissing: Its script is not there.
        """
        known = {name.casefold(): value for name, value in values.items()}
        missing = [name for name in VARIABLES[script] if name.casefold() not in known]
        if missing:
            raise ConfigError(f"{script} needs a value for {', '.join(missing)}")
        key = f"packageOptions.{_KEYS[script]}"
        configured = self.options.get(_KEYS[script])
        if configured is None:
            raise NotConfigured(f"{PLACE} configures no {key}", hint=f"add {key} with a `command`")
        table = _table(configured, key)
        command, path = (_text(table, name, key) for name in ("command", "path"))
        if command:
            words = _words(command, f"{key}.command")
            program, *args = [_filled(word, known, f"{key}.command") for word in words]
            return CommandOptions(
                program, tuple(args), cwd=self.repository, seconds=seconds, env=_NO_BYTECODE
            )
        if path:
            return self._script(path, script, known, seconds, key)
        raise NotConfigured(f"{key} has neither `command` nor `path`", hint="give it one of both")

    def named(self) -> Sequence[ProjectProgram]:
        """Return the programs that are configured, with the files of the repository they name."""
        found = map(self._named_or_refused, get_args(SdkScript))
        return [each for each in found if each is not None]

    def _named_or_refused(self, script: SdkScript) -> ProjectProgram | None:
        try:
            return self.named_program(script)
        except ConfigError as error:
            place = self.repository.resolve() / PLACE
            return ProjectProgram(name=script, place=place, command="", refused=error)

    def named_program(self, script: SdkScript) -> ProjectProgram | None:
        """Return one of them; None where it is not configured.

        Raises:
            ConfigError: It is malformed, leads out of the repository, or names too many files.
        """
        key = f"packageOptions.{_KEYS[script]}"
        configured = self.options.get(_KEYS[script])
        if configured is None:
            return None
        table = _table(configured, key)
        command, path = (_text(table, name, key) for name in ("command", "path"))
        if not command and not path:
            return None
        place = self.repository.resolve() / PLACE
        if not command:
            file = self._script_file(path, key)
            files = [file] if file.is_file() else []
            told = f"pwsh -File {path}"
            return ProjectProgram(name=script, place=place, command=told, files=files)
        words = _words(command, f"{key}.command")
        try:
            found = named_files(words, self.repository.resolve())
        except ConfigError as error:
            raise ConfigError(f"{key}.command: {error.message}", hint=error.hint) from error
        return ProjectProgram(
            name=script, place=place, command=command, files=found.files, unknown=found.unknown
        )

    def _script(
        self, path: str, script: SdkScript, known: Mapping[str, str], seconds: float, key: str
    ) -> PowerShellOptions:
        file = self._script_file(path, key)
        if not file.is_file():
            raise FileMissing(f"{key}.path names {path!r}, which is not there")
        given = {name: known[name.casefold()] for name in VARIABLES[script]}
        return PowerShellOptions(file, given, cwd=self.repository, seconds=seconds)

    def _script_file(self, path: str, key: str) -> Path:
        file = (self.repository / path).resolve()
        if not file.is_relative_to(self.repository.resolve()):
            raise ConfigError(f"{key}.path leads out of the repository: {path!r}")
        return file


def programs_of(workspace: Path) -> Sequence[ProjectProgram]:
    """Return the programs that a workspace configures; none where it has no configuration.

    Raises:
        ConfigError: The configuration is malformed.
    """
    try:
        return SdkConfiguration.read(workspace).named()
    except FileMissing:
        return ()


def is_sdk_script(name: str) -> bool:
    """Return whether a name is that of a program of the configuration."""
    return name in get_args(SdkScript)


def _words(command: str, key: str) -> Sequence[str]:
    """Split a command, and refuse words of which nobody can say what they start.

    Raises:
        ConfigError: The program itself depends on a call, or the command cannot be split.
    """
    if "\0" in command or len(command) > _MOST_CHARACTERS:
        raise ConfigError(f"{key} holds a NUL character, or over {_MOST_CHARACTERS:,} characters")
    try:
        words = split_command(command)
    except ToolError as error:
        raise ConfigError(f"{key}: {error.message}", hint=error.hint) from error
    if VARIABLE.search(REPOSITORY.sub("", words[0])):
        raise ConfigError(
            f"{key} starts {words[0]!r}, so that each call would choose the program",
            hint="name the program itself; {SdkRepoPath} may stand in front",
        )
    for word in words:
        if VARIABLE.search(word) and not _BESIDE_VARIABLES.fullmatch(VARIABLE.sub("", word)):
            raise ConfigError(
                f"{key}: a value in {word!r} could be read by a shell or as part of a program",
                hint="give it a word of its own: sh -c 'build \"$1\"' sh {PackagePath}",
            )
        path = re.sub(r"^-\w(?=\{)", "", word)
        if re.search(r"[^=,:]\{SdkRepoPath\}|\{SdkRepoPath\}[^/=,:]", path, re.IGNORECASE):
            raise ConfigError(f"{key}: in {word!r} the repository's path is only a part of a name")
    _refuse_values_as_code(words, key)
    return words


def _refuse_values_as_code(words: Sequence[str], key: str) -> None:
    """Refuse a command that gives a value to an interpreter as a program text."""
    if not any(_INTERPRETER.fullmatch(word) for word in words):
        return
    for before, word in pairwise(words):
        is_code = _CODE_OPTION.fullmatch(before) or _CODE_IN_OPTION.fullmatch(word)
        if is_code and VARIABLE.search(REPOSITORY.sub("", word)):
            raise ConfigError(f"{key}: {word!r} would be read as a program, with a call's value")


def _filled(word: str, known: Mapping[str, str], key: str) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1].casefold()
        if name not in known:
            names = ", ".join(sorted(known))
            raise ConfigError(f"{key} names {found[0]}, which has no value", hint=f"known: {names}")
        return known[name]

    return VARIABLE.sub(value, word)


def _table(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ConfigError(f"{name} is no object in {PLACE}")
    return cast("Mapping[str, object]", value)


def _text(table: Mapping[str, object], name: str, key: str) -> str:
    value = table.get(name, "")
    if not isinstance(value, str):
        raise ConfigError(f"{key}.{name} is no text in {PLACE}")
    return value.strip()
