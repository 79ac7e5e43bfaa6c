import textwrap
user = await get_user(id=4)
body = f"Dear {user['name']}, your team {user['team']} has open orders that nobody looked at for some weeks now. Please do."
letter = textwrap.fill(body, width=40, initial_indent="  ")
await send_message(to=user["email"], text=letter)
print(letter)
len(letter.splitlines())
