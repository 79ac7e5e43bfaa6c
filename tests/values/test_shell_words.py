"""Command lines are split as `shlex.split` does, whatever their length."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft import Policy, Rule, Session, kit
from lineshaft.values import shell_words


@given(st.text("ab \t\r\n'\"\\\\é\u00a0#$", max_size=12))
def test_words_are_those_of_the_standard_library(line: str) -> None:
    try:
        expected = shlex.split(line)
    except ValueError:
        with pytest.raises(ValueError, match=r"No (closing quotation|escaped character)"):
            shell_words(line)
    else:
        assert shell_words(line) == expected


async def test_a_word_of_megabytes_is_judged_like_any_other() -> None:
    script = "await run_command('git \\'push\\' ' + 'a' * 4_000_000)"
    policy = Policy("open", (Rule("no-push", "deny", command="git push *"),))

    async with Session(kit.tools("run_command"), policy=policy, store=False) as session:
        result = await session.run(script)

    assert result.error is not None
    assert "'no-push'" in result.error.message
