users = {u["name"].split()[0].lower(): u["email"] for u in await list_users()}
sent, unknown = [], []
for issue in await github.list_issues(label="bug"):
    email = users.get(issue["author"])
    if email is None:
        unknown.append(issue["author"])
        continue
    message = await send_message(to=email, text=f"Please look at #{issue['number']}")
    sent.append((message["id"], message["to"]))
return {"sent": sent, "unknown": unknown}
