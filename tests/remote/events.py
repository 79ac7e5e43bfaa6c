"""Frames as OpenHands' `event_to_dict` makes them, written down from its definition."""

from typing import Any

RUN: dict[str, Any] = {
    "id": 7,
    "timestamp": "2025-11-28T10:00:00.000000",
    "source": "agent",
    "message": "Running command: pytest -q",
    "action": "run",
    "args": {
        "command": "pytest -q",
        "is_input": False,
        "thought": "see whether it works",
        "blocking": False,
        "is_static": False,
        "cwd": None,
        "hidden": False,
        "confirmation_state": "confirmed",
        "security_risk": -1,
    },
    "timeout": 30,
}

READ: dict[str, Any] = {
    "id": 8,
    "source": "agent",
    "action": "read",
    "args": {
        "path": "/workspace/a.txt",
        "start": 0,
        "end": -1,
        "thought": "",
        "security_risk": -1,
        "impl_source": "default",
        "view_range": None,
    },
}

WRITE: dict[str, Any] = {
    "id": 9,
    "source": "agent",
    "action": "write",
    "args": {"path": "a.txt", "content": "x\n", "start": 0, "end": -1, "thought": ""},
}

EDIT: dict[str, Any] = {
    "id": 10,
    "source": "agent",
    "action": "edit",
    "args": {
        "path": "/workspace/a.txt",
        "command": "str_replace",
        "file_text": None,
        "old_str": "a",
        "new_str": "b",
        "insert_line": None,
        "content": "",
        "start": 1,
        "end": -1,
        "thought": "",
        "security_risk": -1,
        "impl_source": "oh_aci",
    },
}

RAN: dict[str, Any] = {
    "id": 11,
    "timestamp": "2025-11-28T10:00:01.000000",
    "source": "environment",
    "message": "Command `pytest -q` executed with exit code 1.",
    "cause": 7,
    "observation": "run",
    "content": "1 failed\n",
    "extras": {
        "command": "pytest -q",
        "metadata": {
            "exit_code": 1,
            "pid": 4711,
            "username": "dev",
            "hostname": "box",
            "working_dir": "/workspace",
            "py_interpreter_path": None,
            "prefix": "",
            "suffix": "",
        },
        "hidden": False,
    },
    "success": False,
}

RAN_BEFORE: dict[str, Any] = {
    "source": "environment",
    "cause": 7,
    "observation": "run",
    "content": "ok",
    "extras": {"command": "true", "exit_code": 0, "command_id": 12},
}
"""The older form: exit code and process in the extras themselves."""

EDITED: dict[str, Any] = {
    "cause": 10,
    "observation": "edit",
    "content": "The file has been edited.",
    "extras": {
        "path": "/workspace/a.txt",
        "prev_exist": True,
        "old_content": "a\n",
        "new_content": "b\n",
        "impl_source": "oh_aci",
        "diff": "-a\n+b\n",
    },
}

FAILED: dict[str, Any] = {
    "cause": 8,
    "observation": "error",
    "content": "there is no file",
    "extras": {"error_id": "E_FILE_NOT_FOUND"},
}
