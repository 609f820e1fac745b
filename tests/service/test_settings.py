"""Settings are read from the environment, typed and described."""

import json

import pytest
from gradwire_service.settings import Settings
from gradwire_service.settings.derived import source_of
from gradwire_service.settings.fit import excess
from gradwire_service.settings.memory import LEAST_PROCESS_BYTES, default_processes
from gradwire_service.settings.reading import (
    SettingsError,
    needless,
    read_settings,
    unknown_variables,
    variable,
)
from gradwire_service.settings.units import BYTES
from hypothesis import given
from hypothesis import strategies as st
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


#: Those that nobody need set.
DERIVED = [name for name, field in Settings.model_fields.items() if source_of(field) is not None]

#: The settings with a default that can be written as a text.
WRITTEN = {name: value for name, value in vars(Settings()).items() if value not in (None, "", ())}


def test_few_settings_are_to_be_set():
    assert len(Settings.model_fields) - len(DERIVED) <= 45


@pytest.mark.parametrize("name", [*WRITTEN])
def test_a_setting_that_is_derived_is_used_with_a_warning(monkeypatch, name):
    default = WRITTEN[name]
    source = source_of(Settings.model_fields[name])
    text = ",".join(default) if isinstance(default, tuple) else str(default)
    monkeypatch.setenv(variable(name), text)
    settings = read_settings({})
    assert getattr(settings, name) == default
    replaced = f"see {variable(source)}" if source else "fixed"
    assert needless(settings) == ([] if source is None else [f"{variable(name)} ({replaced})"])
    assert source is None or not source or source_of(Settings.model_fields[source]) is None


@given(
    memory_bytes=st.integers(128 << 20, 1 << 42),
    cores=st.integers(1, 256),
    store=st.sampled_from(["memory:", "redis://h/0"]),
    max_body_bytes=st.integers(1, 1 << 36),
    tenants=st.integers(1, 1000),
)
def test_derived_settings_fit_together(**given):
    assert read_settings(given).queue_bytes >= given["max_body_bytes"]


@given(
    memory_bytes=st.integers(2 << 30, 1 << 42),
    cores=st.integers(1, 256),
    store=st.sampled_from(["memory:", "redis://h/0"]),
)
def test_derived_settings_fit_in_the_memory(**given):
    settings = read_settings({**given, "job_processes": min(given["cores"], 4)})
    processes = default_processes(vars(settings))
    settings = read_settings({**given, "job_processes": 1, "processes": processes})
    if settings.process_bytes > LEAST_PROCESS_BYTES:
        assert excess(settings) is None
        assert settings.max_total_bytes < settings.process_bytes
    tight = settings.model_copy(update={"cache_bytes": settings.memory_bytes})
    assert "the settings allow" in str(excess(tight))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"queue_bytes": "1MiB"}, "GRADWIRE_MAX_BODY_BYTES does not fit in GRADWIRE_QUEUE_BYTES"),
        ({"max_arriving_bytes": "64MiB"}, "GRADWIRE_QUEUE_BYTES does not fit"),
        (
            {"max_answer_bytes": "64MiB", "max_leaving_bytes": "128MiB"},
            "GRADWIRE_MAX_ANSWER_BYTES does not fit in GRADWIRE_MAX_LEAVING_BYTES",
        ),
    ],
)
def test_contradictory_settings_are_refused(settings, told):
    with pytest.raises(SettingsError, match=told):
        read_settings(settings)


def test_the_largest_answer_can_be_sent_as_json():
    """No float64 has a longer text than 24 characters, and a comma."""
    texts = [-5e-324, -1.7976931348623157e308, -2.2250738585072014e-308, -1 / 3]
    assert max(len(json.dumps([x, x])) - len(json.dumps([x])) for x in texts) <= 25 + 1
    settings = Settings(memory_bytes=3 << 30)
    assert settings.max_answer_bytes * 25 / 8 <= settings.max_leaving_bytes


def test_unknown_settings_are_reported_with_a_suggestion():
    known = [variable(name) for name in Settings.model_fields]
    others = ["GRADWIRE_API_KEY", "GRADWIRE_PLACEMENT", "GRADWIRE_URL", "PATH", "gradwire_port"]
    assert unknown_variables([*known, *others]) == []
    assert unknown_variables(["GRADWIRE_KEY_FILE", "GRADWIRE_XYZZY", *known]) == [
        "GRADWIRE_KEY_FILE (is GRADWIRE_KEYS_FILE meant?)",
        "GRADWIRE_XYZZY",
    ]
