"""Tasks: a folder each, with prompt, files, tools, checker and limits."""

from lineshaft.evals.tasks.checking import Score, checked
from lineshaft.evals.tasks.copying import fresh_copy
from lineshaft.evals.tasks.reading import found_tasks, plan_of, read_task, task_digest, world_of
from lineshaft.evals.tasks.task import EvalTask, TaskLimits, World

__all__ = [
    "EvalTask",
    "Score",
    "TaskLimits",
    "World",
    "checked",
    "found_tasks",
    "fresh_copy",
    "plan_of",
    "read_task",
    "task_digest",
    "world_of",
]
