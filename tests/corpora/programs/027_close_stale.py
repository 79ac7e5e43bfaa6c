closed, failed = [], []
for number in (6, 3, 8, 42):
    try:
        await github.close_issue(number=number, comment="stale")
        closed.append(number)
    except ToolError as error:
        failed.append((number, error.code))
left = [i["number"] for i in await github.list_issues()]
print(f"closed {closed}, failed {failed}")
left
