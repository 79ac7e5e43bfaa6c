line = "2026-03-01 10:02:11 ERROR timeout host=db1 code=504"
m = re.match(r"(?P<date>\d{4}-\d\d-\d\d) (?P<time>[\d:]+) (?P<level>[A-Z]+) (?P<rest>.+)", line)
fields = dict(re.findall(r"(\w+)=(\w+)", m.group("rest")))
print(m.groups()[:3], m.start("level"), m.span("time"))
return {**m.groupdict(), **fields}
