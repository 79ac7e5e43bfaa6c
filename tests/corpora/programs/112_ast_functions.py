import ast
found = {}
for path in await list_files(folder="src"):
    content = (await read_file(path=path))["content"]
    try:
        tree = ast.parse(content)
    except SyntaxError as error:
        found[path] = f"syntax error in line {error.lineno}"
        continue
    found[path] = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
found
