issues = await github.list_issues(state="all")
def words(issue):
    return set(issue["title"].lower().split())
pairs = []
for i, a in enumerate(issues):
    for b in issues[i + 1:]:
        common = words(a) & words(b)
        score = len(common) / len(words(a) | words(b))
        if score > 0.3:
            pairs.append((a["number"], b["number"], round(score, 2), sorted(common)))
pairs
