from collections import namedtuple
Row = namedtuple("Row", "number title comments")
rows = [Row(i["number"], i["title"], i["comments"]) for i in await github.list_issues()]
busiest = max(rows, key=lambda r: r.comments)
number, title, _ = busiest
print(f"{number}: {title}")
return [busiest.comments, rows[0]._asdict()["title"], sum(r.comments for r in rows)]
