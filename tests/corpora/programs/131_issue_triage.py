async def triage(issue):
    if "urgent" in issue["labels"]:
        await github.add_label(number=issue["number"], label="p0")
        return "p0"
    if "bug" in issue["labels"]:
        return "p1"
    return "p2" if issue["comments"] else "p3"

result = {}
for issue in await github.list_issues():
    result.setdefault(await triage(issue), []).append(issue["title"])
for level in sorted(result):
    print(level, len(result[level]))
result
