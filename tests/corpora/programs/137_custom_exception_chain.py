class ConfigProblem(Exception):
    """A setting is wrong."""

async def load(path):
    try:
        return json.loads((await read_file(path=path))["content"])
    except ToolError as error:
        raise ConfigProblem(f"cannot read {path}") from error
    except json.JSONDecodeError as error:
        raise ConfigProblem(f"{path} is broken") from error

out = []
for path in ("config/settings.json", "nope.json", "data/broken.json"):
    try:
        out.append(sorted(await load(path)))
    except ConfigProblem as problem:
        out.append([str(problem), type(problem.__cause__).__name__])
out
