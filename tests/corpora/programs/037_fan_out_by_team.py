teams = ["core", "web", "ops"]
members = await asyncio.gather(*[list_users(team=t) for t in teams])
return {team: [m["email"] for m in found if m["active"]] for team, found in zip(teams, members)}
