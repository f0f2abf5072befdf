import pytest

from tests.support.shells import start_shell


@pytest.fixture
def shell(tmp_path):
    with start_shell(tmp_path) as shell:
        yield shell
