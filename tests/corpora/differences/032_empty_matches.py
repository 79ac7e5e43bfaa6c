return [re.sub(r"x*", "-", "abxd"), re.split(r",*", "a,b"), re.findall(r"\s*", "a b")]
