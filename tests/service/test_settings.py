"""Settings come from the environment, typed and described."""

import pytest
from gradwire_service.settings import Settings
from pydantic import ValidationError


def test_the_environment_is_read(monkeypatch):
    monkeypatch.setenv("GRADWIRE_MAX_BODY_BYTES", "1000")
    monkeypatch.setenv("GRADWIRE_LOG_LEVEL", "debug")
    settings = Settings(port=0)
    assert (settings.max_body_bytes, settings.log_level, settings.port) == (1000, "debug", 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 70000},
        {"log_level": "loud"},
        {"max_body_bytes": 0},
        {"default_timeout_ms": 100_000},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        Settings(**wrong)


def test_every_setting_is_described():
    assert all(field.description for field in Settings.model_fields.values())
