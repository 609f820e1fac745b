import pytest
from gradwire.options import ClientOptions


def resolve(base_url=None, api_key=None, environment=None, placement=None):
    return ClientOptions.resolve(base_url, api_key, 60.0, 2, environment or {}, placement)


@pytest.mark.parametrize(
    ("argument", "environment", "url"),
    [
        (None, {}, "http://127.0.0.1:8000"),
        (None, {"GRADWIRE_URL": "http://there/"}, "http://there"),
        ("http://here/api/", {"GRADWIRE_URL": "http://there"}, "http://here/api"),
        ("", {"GRADWIRE_URL": "http://there"}, "http://there"),
    ],
)
def test_arguments_override_the_environment(argument, environment, url):
    assert resolve(argument, environment=environment).base_url == url


@pytest.mark.parametrize(
    ("argument", "environment", "header"),
    [
        (None, {}, None),
        (None, {"GRADWIRE_API_KEY": "k1"}, "Bearer k1"),
        ("k2", {"GRADWIRE_API_KEY": "k1"}, "Bearer k2"),
        ("", {"GRADWIRE_API_KEY": "k1"}, None),
    ],
)
def test_the_api_key_is_sent_as_a_bearer_token(argument, environment, header):
    headers = resolve(api_key=argument, environment=environment).headers()
    assert headers.get("Authorization") == header


@pytest.mark.parametrize(
    ("argument", "environment", "header"),
    [
        (None, {}, None),
        (None, {"GRADWIRE_PLACEMENT": "gpu"}, "gpu"),
        ("gpu", {}, "gpu"),
        ("cpu", {"GRADWIRE_PLACEMENT": "gpu"}, "cpu"),
        ("any", {"GRADWIRE_PLACEMENT": "gpu"}, None),
    ],
)
def test_the_placement_is_sent_unless_it_is_any(argument, environment, header):
    headers = resolve(placement=argument, environment=environment).headers()
    assert headers.get("Gradwire-Placement") == header


def test_a_placement_is_a_gpu_a_cpu_or_any():
    with pytest.raises(ValueError, match="placement needs 'gpu', 'cpu' or 'any', got 'tpu'"):
        resolve(environment={"GRADWIRE_PLACEMENT": "tpu"})


def test_requests_have_a_user_agent():
    assert resolve().headers()["User-Agent"].startswith("gradwire-python/")


def test_max_retries_must_not_be_negative():
    with pytest.raises(ValueError, match="max_retries needs an integer of at least 0, got -1"):
        ClientOptions.resolve(None, None, 60.0, -1, {})
