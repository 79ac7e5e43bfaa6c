"""Names that say their value is a secret."""

import pytest

from lineshaft.values import looks_secret


@pytest.mark.parametrize(
    "names",
    [
        "API_KEY key dbPassword PGPASSWORD GITHUB_TOKEN accessToken CREDENTIALS AUTH oauth_token",
        "SENTRY_DSN WEBHOOK bearer X-Api-Key apikey TOKEN2 clientSecret Authorization",
        "DB_PASSPHRASE SESSION_COOKIE MYSQL_PWD SECRETKEY AWSCREDENTIALS API_KEYS AUTH_TOKENS",
    ],
)
def test_a_telling_name_tells(names: str) -> None:
    assert [name for name in names.split() if not looks_secret(name)] == []


def test_other_names_do_not() -> None:
    names = "BYPASS COMPASS monkey keyboard max_tokens author path content tokenizer"
    names += " MONKEY AUTHOR MAX_TOKENS PWD XAUTHORITY keys"
    assert [name for name in names.split() if looks_secret(name)] == []


def test_a_plain_key_in_a_result_is_none() -> None:
    names = "key primary_key api_key keys api_keys token"
    told = [name for name in names.split() if looks_secret(name, in_result=True)]
    assert told == ["api_key", "token"]
