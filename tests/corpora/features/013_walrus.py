lines = ["a=1", "comment", "b=22", ""]
found = [m.group(2) for line in lines if (m := re.match(r"(\w)=(\d+)", line))]
n = 0
while (n := n + 3) < 10:
    pass
if (total := sum(int(f) for f in found)) > 20:
    found.append(str(total))
return [found, n, total]
