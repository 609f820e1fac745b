"""The keyring: identities, expiry, and counters that survive a new list."""

from datetime import UTC, datetime
from hashlib import sha256

import pytest
from gradwire_service.access.keyring import Keyring, owner_of
from gradwire_service.access.rates import RateLimits
from gradwire_service.access.tokens import Token, new_token, read_token


def token_of(text):
    token = read_token(text.encode())
    assert token is not None
    return token


def identified(keyring, text):
    """The key of a valid token."""
    key = keyring.identify(token_of(text))
    assert key is not None
    return key


def test_a_key_identifies_its_tenant(issue):
    (one, first), (two, second), (three, third) = (
        issue(),
        issue(name="other", scopes=["compute", "admin"]),
        issue(tenant="umbrella"),
    )
    keyring = Keyring([first, second, third])
    callers = [identified(keyring, text).caller for text in (one, two, three)]
    assert [(caller.tenant, caller.key) for caller in callers] == [
        ("acme", "ci"),
        ("acme", "other"),
        ("umbrella", "ci"),
    ]
    assert callers[0].owner == callers[1].owner != callers[2].owner
    assert identified(keyring, two).scopes == {"compute", "admin"}


def test_no_owner_header_gives_access_to_a_tenants_records():
    """Without API keys an owner is the digest of a header with any content."""
    assert owner_of("acme") != sha256(b"acme").hexdigest()
    assert owner_of("acme") == sha256(b"gradwire tenant\0acme").hexdigest()


def test_unknown_secrets_and_ids_are_rejected(issue):
    text, entry = issue()
    keyring = Keyring([entry])
    id, digest = token_of(text)
    assert keyring.identify(Token(id, digest)) is not None
    assert keyring.identify(Token(id, token_of(new_token()).digest)) is None
    assert keyring.identify(Token(id, bytes(32))) is None
    assert keyring.identify(token_of(new_token())) is None
    assert keyring.identify(Token("0" * 16, bytes(32))) is None


def test_a_key_expires_at_its_time(issue, clock):
    text, entry = issue(expires_at=datetime.fromtimestamp(clock.now + 10, UTC))
    keyring = Keyring([entry], now=clock)
    assert keyring.identify(token_of(text))
    clock.now += 9.999
    assert keyring.identify(token_of(text))
    clock.now += 0.001
    assert keyring.identify(token_of(text)) is None


def test_a_new_list_takes_effect_immediately(issue):
    (one, first), (two, second) = issue(), issue(tenant="umbrella")
    keyring = Keyring([first])
    keyring.replace([second])
    assert keyring.identify(token_of(one)) is None
    assert keyring.identify(token_of(two))


def test_a_new_list_keeps_the_counters_of_remaining_keys(issue):
    text, entry = issue(requests_per_second=5, concurrent=2)
    keyring = Keyring([entry])
    before = identified(keyring, text)
    before.limiter.enter()
    keyring.replace([entry.model_copy(update={"concurrent": 7})])
    after = identified(keyring, text)
    assert after.limiter is before.limiter
    assert (after.limiter.in_flight, after.limiter.limits.concurrent) == (1, 7)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, RateLimits(3, 2, 1)),
        ({"requests_per_second": 9}, RateLimits(9, 2, 1)),
        ({"requests_per_second": 0, "burst": 0, "concurrent": 0}, RateLimits(0, 0, 0)),
    ],
)
def test_a_key_without_limits_has_those_of_the_settings(issue, own, expected):
    text, entry = issue(**own)
    keyring = Keyring([entry], RateLimits(3, 2, 1))
    assert identified(keyring, text).limiter.limits == expected
