from itertools import groupby, chain, islice

issues = sorted(await github.list_issues(state="all"), key=lambda i: i["author"])
by_author = {author: [i["number"] for i in group] for author, group in groupby(issues, key=lambda i: i["author"])}
labels = sorted(set(chain.from_iterable(i["labels"] for i in issues)))
return {"by_author": by_author, "labels": labels, "first": list(islice(by_author, 2))}
