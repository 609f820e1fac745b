"""Without API keys a service only listens on loopback addresses."""

import pytest
from gradwire_service.access.exposure import Exposed, is_loopback, refuse_exposed
from gradwire_service.settings import Settings
from pydantic import SecretStr

LOOPBACK = "127.0.0.1", "127.1.2.3", "::1", "localhost", "LOCALHOST"
ELSEWHERE = "0.0.0.0", "::", "192.168.1.7", "", "example.org", "localhost.example.org", "128.0.0.1"


@pytest.mark.parametrize("host", LOOPBACK)
def test_loopback_addresses_need_no_keys(host):
    assert is_loopback(host)
    refuse_exposed(Settings(host=host))


@pytest.mark.parametrize("host", ELSEWHERE)
def test_other_addresses_need_keys_or_an_explicit_setting(host):
    assert not is_loopback(host)
    with pytest.raises(Exposed) as raised:
        refuse_exposed(Settings(host=host))
    for way_out in "GRADWIRE_KEYS_FILE", "GRADWIRE_OPEN=true", "gradwire-server keys new":
        assert way_out in str(raised.value)
    refuse_exposed(Settings(host=host, open=True))
    refuse_exposed(Settings(host=host, keys=SecretStr("[]")))
    refuse_exposed(Settings(host=host, keys_file="keys.json"))
