from abc import ABC, abstractmethod

class Reporter(ABC):
    @abstractmethod
    def render(self, rows): ...

class CsvReporter(Reporter):
    def render(self, rows):
        return "\n".join(",".join(map(str, row.values())) for row in rows)

class TextReporter(Reporter):
    def render(self, rows):
        return "; ".join(f"{k}={v}" for row in rows for k, v in row.items())

rows = [{"city": c, "t": await temperature(city=c)} for c in ("Oslo", "Rome")]
for reporter in (CsvReporter(), TextReporter()):
    print(type(reporter).__name__, reporter.render(rows), sep=": ")
