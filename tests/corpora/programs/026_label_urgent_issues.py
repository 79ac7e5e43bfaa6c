changed = []
for issue in await github.list_issues(state="open"):
    if issue["comments"] >= 5 and "discussed" not in issue["labels"]:
        labels = await github.add_label(number=issue["number"], label="discussed")
        changed.append({"number": issue["number"], "labels": labels})
return changed
