"""An empty environment variable is an unset one, for every setting."""

import os

import pytest
from gradwire_service.__main__ import main
from gradwire_service.access.exposure import Exposed, exposure_warning, refuse_exposed
from gradwire_service.settings import Settings
from gradwire_service.settings.environment import given
from gradwire_service.settings.reading import read_settings, unknown_variables, variable

BLANKS = {"nothing": "", "a space": " ", "white space": " \t\r\n"}
#: Lists, of which an empty one differs from a setting that is not given.
LISTS = [name for name, field in Settings.model_fields.items() if "tuple" in str(field.annotation)]


@pytest.fixture(autouse=True)
def _without_settings(monkeypatch):
    for name in [name for name in os.environ if name.upper().startswith("GRADWIRE_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
@pytest.mark.parametrize("name", Settings.model_fields)
def test_an_empty_variable_is_as_if_it_were_unset(monkeypatch, name, blank):
    unset = read_settings({})
    monkeypatch.setenv(variable(name), blank)
    read = read_settings({})
    assert read == unset
    assert read.model_fields_set == unset.model_fields_set == set()


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
@pytest.mark.parametrize("name", Settings.model_fields)
def test_so_is_an_empty_option(monkeypatch, name, blank):
    monkeypatch.setenv("GRADWIRE_KEYS_FILE", "keys.json")
    assert read_settings({name: blank}) == read_settings({})


def test_all_variables_may_be_empty_at_once(monkeypatch):
    unset = read_settings({})
    for name in Settings.model_fields:
        monkeypatch.setenv(variable(name), "")
    assert read_settings({}) == unset
    assert unknown_variables(os.environ) == []


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("none", ["none", " None "])
def test_an_empty_list_is_none(monkeypatch, name, none):
    monkeypatch.setenv(variable(name), none)
    assert getattr(read_settings({}), name) == ()


def test_there_are_lists():
    assert LISTS == ["cors_origins", "proxies"]


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
@pytest.mark.parametrize("name", ["GRADWIRE_KEYS_FILE", "GRADWIRE_KEYS"])
def test_a_service_without_the_keys_that_it_was_to_have_says_so(monkeypatch, name, blank):
    monkeypatch.setenv(name, blank)
    monkeypatch.setenv("GRADWIRE_OPEN", blank)
    with pytest.raises(Exposed, match=f"{name} is empty, as if it were unset: without API keys"):
        refuse_exposed(read_settings({"host": "0.0.0.0"}))
    on_the_loopback = exposure_warning(read_settings({}))
    assert on_the_loopback is not None
    assert f"{name} is empty" in on_the_loopback
    in_the_open = exposure_warning(read_settings({"host": "0.0.0.0", "open": "true"}))
    assert in_the_open is not None
    assert f"{name} is empty" in in_the_open
    assert "anyone who reaches 0.0.0.0" in in_the_open


def test_only_a_service_that_others_reach_without_keys_warns_of_it():
    assert exposure_warning(read_settings({})) is None
    assert exposure_warning(read_settings({"host": "0.0.0.0", "keys": "[]"})) is None
    told = exposure_warning(read_settings({"host": "10.0.0.7", "open": "true"}))
    assert told == "without API keys, anyone who reaches 10.0.0.7 can use this service"


def test_an_exposed_service_does_not_start_with_an_empty_key_file(monkeypatch, capsys):
    monkeypatch.setenv("GRADWIRE_KEYS_FILE", "")
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--host", "0.0.0.0", "--processes", "0", "--port", "", "--open", ""])
    assert ended.value.code == 2
    assert "GRADWIRE_KEYS_FILE is empty" in capsys.readouterr().err


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS)
def test_the_keys_command_needs_the_name_of_a_file(monkeypatch, capsys, blank):
    monkeypatch.setenv("GRADWIRE_KEYS_FILE", blank)
    with pytest.raises(SystemExit) as ended:
        main(["keys", "list"])
    assert ended.value.code == 2
    assert "no key file" in capsys.readouterr().err


def test_an_unknown_variable_that_is_empty_is_unset():
    environment = {"GRADWIRE_XYZZY": " ", "GRADWIRE_YZZYX": "1"}
    assert unknown_variables(given(environment)) == ["GRADWIRE_YZZYX"]
