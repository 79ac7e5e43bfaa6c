import asyncio

async def main():
    issues = await github.list_issues(state="open")
    bugs = [i for i in issues if "bug" in i["labels"]]
    print(f"{len(bugs)} of {len(issues)} open issues are bugs")
    for issue in sorted(bugs, key=lambda i: i["comments"], reverse=True):
        print(f"#{issue['number']} {issue['title']} ({issue['comments']})")

if __name__ == "__main__":
    asyncio.run(main())
