"""Settings are read from the environment, typed and described."""

import pytest
from gradwire_service.settings import Settings
from gradwire_service.settings.reading import (
    SettingsError,
    read_settings,
    unknown_variables,
    variable,
)
from gradwire_service.settings.units import BYTES
from pydantic import ValidationError


def test_settings_are_read_from_the_environment(monkeypatch):
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
        {"proxies": "127.0.0.1, nginx"},
        {"proxies": "10.0.0.1/8"},
        {"tape_ttl_seconds": float("inf")},  # an expiry beyond the largest date
        {"tensor_ttl_seconds": 1e12},
    ],
)
def test_invalid_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        Settings(**wrong)


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("1000", 1000),
        (1001, 1001),
        ("64MB", 64 * 10**6),
        ("64 mb", 64 * 10**6),
        ("64MiB", 64 << 20),
        ("1.5GiB", 3 << 29),
        ("2Gi", 2 << 30),
        ("20k", 20_000),
        ("1TB", 10**12),
        ("7B", 7),
    ],
)
def test_sizes_may_have_units(given, size):
    assert Settings(max_body_bytes=given).max_body_bytes == size


@pytest.mark.parametrize("given", ["64XB", "", "1e3", "0.5B", "MB", "0MB", "-1kB", "1KiBB"])
def test_invalid_sizes_are_refused_with_an_example(given):
    with pytest.raises(ValidationError, match=r"64MB, 1GiB|greater than 0"):
        Settings(max_body_bytes=given)


def test_every_setting_in_bytes_accepts_units():
    for name, field in Settings.model_fields.items():
        if "bytes" in name.split("_"):
            assert BYTES in field.metadata, name


def test_proxies_are_addresses_and_networks():
    assert Settings().proxies == ("127.0.0.1", "::1")
    assert Settings(proxies="10.0.0.0/8, ::1").proxies == ("10.0.0.0/8", "::1")  # type: ignore[arg-type]
    assert Settings(proxies="").proxies == ()  # type: ignore[arg-type]


def test_every_setting_is_described():
    assert all(field.description for field in Settings.model_fields.values())


@pytest.mark.parametrize(
    ("variables", "options", "told"),
    [
        ({"GRADWIRE_CORES": "0"}, {}, "GRADWIRE_CORES=0: Input should be greater"),
        ({"GRADWIRE_PORT": "tcp://10.0.0.1:80"}, {}, "GRADWIRE_PORT=tcp://10.0.0.1:80: Input"),
        ({"GRADWIRE_CACHE_BYTES": "8XB"}, {}, "GRADWIRE_CACHE_BYTES=8XB: Input should be a number"),
        ({"GRADWIRE_PORT": "x"}, {"port": "y"}, "--port=y: Input"),
        ({"GRADWIRE_MAX_TIMEOUT_MS": "5"}, {}, "GRADWIRE_DEFAULT_TIMEOUT_MS must not exceed"),
        (
            {"GRADWIRE_STORE": "postgres://x"},
            {},
            "GRADWIRE_STORE: must be memory:, local:PATH, sqlite:PATH",
        ),
        (
            {"GRADWIRE_STORE": "sqlite:"},
            {},
            "GRADWIRE_STORE: must be memory:, local:PATH, sqlite:PATH",
        ),
        ({"GRADWIRE_STORE": "redis://host:port/0"}, {}, "has an invalid port"),
        ({"GRADWIRE_STORE": "redis://host:6379/prod"}, {}, "number of a database"),
    ],
)
def test_an_invalid_setting_is_named_as_it_was_given(monkeypatch, variables, options, told):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError) as error:
        read_settings(options)
    assert told in str(error.value)


@pytest.mark.parametrize(
    "variables",
    [
        {"GRADWIRE_STORE": "redis://me:SECRET@host:6379/prod"},
        {"GRADWIRE_STORE": "redis://me:SEC/RET@host:6379/0"},
        {"GRADWIRE_STORE": "SECRET"},
        {"GRADWIRE_OTEL_ENDPOINT": "http://me:SECRET@collector"},
    ],
)
def test_possible_secrets_are_not_shown(monkeypatch, variables):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError) as error:
        read_settings({})
    assert "SEC" not in str(error.value)
    assert "RET" not in str(error.value)


@pytest.mark.parametrize(
    "store", ["redis://h", "redis://h/", "rediss://u:p@h:1/3?ssl_ca_certs=/x", "unix:///run/r.sock"]
)
def test_addresses_of_stores_are_accepted(store):
    assert read_settings({"store": store}).store == store


def test_unknown_settings_are_reported_with_a_suggestion():
    known = [variable(name) for name in Settings.model_fields]
    others = ["GRADWIRE_API_KEY", "GRADWIRE_PLACEMENT", "GRADWIRE_URL", "PATH", "gradwire_port"]
    assert unknown_variables([*known, *others]) == []
    assert unknown_variables(["GRADWIRE_KEY_FILE", "GRADWIRE_XYZZY", *known]) == [
        "GRADWIRE_KEY_FILE (is GRADWIRE_KEYS_FILE meant?)",
        "GRADWIRE_XYZZY",
    ]
