from typing import TypedDict

class Summary(TypedDict):
    team: str
    size: int

def summarise(team: str, members: list) -> Summary:
    return {"team": team, "size": len(members)}

rows: list[Summary] = []
for team in ("core", "ops"):
    rows.append(summarise(team, await list_users(team=team)))
rows
