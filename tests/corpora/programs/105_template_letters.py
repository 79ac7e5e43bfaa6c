from string import Template
template = Template("Hello $name ($team)!")
sent = []
for user in await list_users(team="ops"):
    message = await send_message(to=user["email"], text=template.substitute(user))
    sent.append(message["id"])
sent
