issues = await github.list_issues(state="all")
score = {}
for issue in issues:
    score[issue["author"]] = score.get(issue["author"], 0) + issue["comments"]
ranking = sorted(score.items(), key=lambda kv: (-kv[1], kv[0]))
places = ["first", "second", "third"]
for place, (name, n) in zip(places, ranking):
    print(f"{place}: {name} with {n} comment{'s' if n != 1 else ''}")
return ranking[:3]
