def compose(*functions):
    def run(value):
        for function in functions:
            value = function(value)
        return value
    return run

clean = compose(str.strip, str.lower, lambda s: s.replace(" ", "-"), lambda s: re.sub(r"[^a-z0-9-]", "", s))
slugs = [clean(i["title"]) for i in await github.list_issues()]
print(slugs)
list(map(len, slugs))
