"""`lineshaft check`: what is wrong with a script."""

import json as json_module
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from lineshaft.cli._ahead import announce
from lineshaft.cli._carry import carry
from lineshaft.cli._offer import offered_for
from lineshaft.cli._options import json_option, settings_for, tools_option, workspace_option
from lineshaft.cli._pairs import inputs_of
from lineshaft.cli._report import finding_line
from lineshaft.cli._script import Script, code_option, script_argument, script_of
from lineshaft.cli._terminal import result, say
from lineshaft.config import build
from lineshaft.errors import ConfigError
from lineshaft.session import Session
from lineshaft.values import Finding


@script_argument
@click.option("--arg", multiple=True, metavar="K=V", help="A value the script would get.")
@code_option
@tools_option
@workspace_option
@json_option
def command(
    *,
    script: str | None,
    arg: tuple[str, ...],
    code: str | None,
    tools: tuple[str, ...],
    workspace: Path | None,
    json: bool,
) -> None:
    """Check a script; exit 1 where something would keep it from running."""
    if script is not None and code is not None:
        raise ConfigError(
            f"two scripts are given: {script!r} and -c", hint="check one after the other"
        )
    inputs = inputs_of((), arg)
    settings = settings_for(workspace, tools=tools)
    source = script_of(script, code)
    offered = offered_for(settings, words=source.text)
    session = build(settings, toolset=offered.all, guards=(), secrets=offered.secrets)
    announce()
    findings = carry(partial(_check, session, source, inputs=inputs))
    if json:
        result(json_module.dumps([asdict(f) for f in findings], ensure_ascii=False))
    else:
        for finding in findings:
            say(finding_line(finding, source.name, stream=sys.stdout))
    raise SystemExit(1 if any(f.level == "error" for f in findings) else 0)


async def _check(
    session: Session, script: Script, *, inputs: dict[str, object]
) -> tuple[Finding, ...]:
    async with session:
        return await session.check(script.text, inputs=inputs, name=Path(script.name).name)
