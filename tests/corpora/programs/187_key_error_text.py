user = await get_user(id=1)
problems = []
for key in ("name", "phone"):
    try:
        problems.append(user[key])
    except KeyError as error:
        problems.append(f"missing {error}")
try:
    [1, 2][5]
except IndexError as error:
    problems.append(str(error))
try:
    None.name
except AttributeError as error:
    problems.append(str(error))
problems
