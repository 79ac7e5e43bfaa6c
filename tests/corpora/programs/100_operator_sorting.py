from operator import itemgetter, attrgetter
users = await list_users()
ordered = sorted(users, key=itemgetter("team", "name"))
print([u["name"] for u in ordered])
names = list(map(itemgetter("name"), users))
return {"names": names, "first": ordered[0]["email"]}
