labels = {i["number"]: set(i["labels"]) for i in await github.list_issues(state="all")}
everything = set().union(*labels.values())
bugs = {n for n, l in labels.items() if "bug" in l}
docs = {n for n, l in labels.items() if "docs" in l}
return {
    "labels": sorted(everything), "bugs": sorted(bugs), "either": sorted(bugs | docs),
    "both": sorted(bugs & docs), "neither": sorted(labels.keys() - bugs - docs), "frozen": len({frozenset(l) for l in labels.values()}),
}
