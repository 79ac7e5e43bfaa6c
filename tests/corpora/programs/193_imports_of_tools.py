from tools import read_file as read, list_files
import github as gh
import tools

first = (await list_files(folder="notes"))[0]
text = await read(path=first)
issue = await gh.get_issue(number=2)
again = await tools.temperature(city="Oslo")
return [text["lines"], issue["title"], again]
