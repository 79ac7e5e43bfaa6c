people = json.loads((await read_file(path="data/people.json"))["content"])
by_skill = {}
for person in people:
    for skill in person["skills"]:
        by_skill.setdefault(skill, []).append(person["name"])
oldest = min(people, key=lambda p: p["born"])
print(json.dumps(by_skill, ensure_ascii=False, sort_keys=True))
return {"oldest": oldest["name"], "skills": {k: sorted(v) for k, v in by_skill.items()}}
