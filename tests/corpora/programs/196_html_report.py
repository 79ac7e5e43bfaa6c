from html import escape
rows = []
for issue in await github.list_issues(label="bug"):
    rows.append(f"<tr><td>{issue['number']}</td><td>{escape(issue['title'] + ' <&>')}</td></tr>")
page = "<table>" + "".join(rows) + "</table>"
await write_file(path="out/bugs.html", content=page)
return {"rows": len(rows), "length": len(page), "first": rows[0]}
