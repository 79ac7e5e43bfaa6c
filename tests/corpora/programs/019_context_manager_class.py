class Step:
    depth = 0

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("  " * Step.depth + f"> {self.name}")
        Step.depth += 1
        return self

    def __exit__(self, kind, value, trace):
        Step.depth -= 1
        print("  " * Step.depth + f"< {self.name}" + (" failed" if kind else ""))
        return kind is ToolError

with Step("load"):
    with Step("user"):
        user = await get_user(id=2)
    with Step("missing"):
        await get_user(id=99)
return user["name"]
