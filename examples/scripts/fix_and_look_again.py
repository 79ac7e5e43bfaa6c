# In the folder that a window of VS Code shows: `lineshaft run fix_and_look_again.py --workspace vscode:`.
# Asks the editor's language servers what is wrong, changes it, and asks again: what the script has
# changed lands in the editor before each look.

PATHS = ["src/app.ts"]
MOST_ROUNDS = 10


def fix(line, message):
    """The line as it should be; here, notes that somebody left. A model writes what it takes."""
    return line.replace("FIXME", "fixed")


rounds = 0
found = await editor.get_errors(paths=PATHS)
while found["count"] and rounds < MOST_ROUNDS:
    first = found["diagnostics"][0]
    number = first["range"][0]
    text = (await read_file(path=first["path"], start=number, end=number))["content"]
    await edit_file(path=first["path"], old=text, new=fix(text, first["message"]))
    found = await editor.get_errors(paths=PATHS)
    rounds += 1

return {"rounds": rounds, "left": found["count"]}
