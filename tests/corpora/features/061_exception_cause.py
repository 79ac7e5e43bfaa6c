try:
    try:
        await temperature(city="Atlantis")
    except ToolError as error:
        raise ValueError("no weather") from error
except ValueError as error:
    cause = error.__cause__
    return [str(error), type(cause).__name__, cause.code, error.__suppress_context__]
