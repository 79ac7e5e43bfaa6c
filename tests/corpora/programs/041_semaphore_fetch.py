semaphore = asyncio.Semaphore(3)

async def title(number):
    async with semaphore:
        issue = await github.get_issue(number=number)
        return f"{issue['number']}: {issue['title']}"

titles = await asyncio.gather(*[title(n) for n in range(1, 9)])
titles
