from enum import Enum

class Severity(Enum):
    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @classmethod
    def of(cls, issue):
        if "urgent" in issue["labels"]:
            return cls.HIGH
        return cls.MEDIUM if "bug" in issue["labels"] else cls.LOW

grouped = {level.name: [] for level in Severity}
for issue in await github.list_issues(state="all"):
    grouped[Severity.of(issue).name].append(issue["number"])
grouped
