async def chain(user_id):
    user = await get_user(id=user_id)
    if user["manager"] is None:
        return [user["name"]]
    return [user["name"], *await chain(user["manager"])]

return " < ".join(await chain(5))
