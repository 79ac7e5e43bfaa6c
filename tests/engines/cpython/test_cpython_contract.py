"""The contract of engines, as far as this engine does not meet it otherwise: see `conftest.py`."""

from engines.contract.test_engine_calls import *  # noqa: F403  every test of the contract
from engines.contract.test_engine_control import *  # noqa: F403  every test of the contract
from engines.contract.test_engine_errors import *  # noqa: F403  every test of the contract
from engines.contract.test_engine_helpers import *  # noqa: F403  every test of the contract
from engines.contract.test_engine_language import *  # noqa: F403  every test of the contract
from engines.contract.test_engine_limits import *  # noqa: F403  every test of the contract
from engines.contract.test_engine_pauses import *  # noqa: F403  every test of the contract
