names = []
page = 1
while page is not None:
    result = await fetch_page(page=page)
    names.extend(result["items"])
    page = result["next"]
return {"count": len(names), "first": names[0], "last": names[-1], "short": [n for n in names if len(n) == 3]}
