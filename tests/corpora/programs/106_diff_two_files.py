import difflib
old = (await read_file(path="src/util.py"))["content"]
new = old.replace("# FIXME: not atomic\n", "# Written at once.\n").replace("json.dump(data, f)", "json.dump(data, f, indent=1)")
diff = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "a/util.py", "b/util.py", lineterm="", n=1))
print("\n".join(diff))
await write_file(path="src/util.py", content=new)
return sum(1 for line in diff if line[0] in "+-" and line[:3] not in ("+++", "---"))
