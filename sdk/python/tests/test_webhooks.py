"""Webhooks, with the library of Standard Webhooks as the sender."""

from __future__ import annotations

import datetime as dt
import json
import time

import pytest
from standardwebhooks.webhooks import Webhook

from netsim import webhooks
from netsim.errors import WebhookError

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
BODY = json.dumps({"specversion": "1.0", "id": "e1", "source": "/netsim", "type": "netsim.simulation.completed.v1",
                   "subject": "sim_1", "time": "2026-11-21T08:30:10.125Z", "data": {"ü": 1}}, ensure_ascii=False)  # fmt: skip


def sent(secret: str = SECRET, at: float | None = None, body: str = BODY) -> dict[str, str]:
    when = dt.datetime.fromtimestamp(time.time() if at is None else at, tz=dt.UTC)
    signature = Webhook(secret).sign("msg_1", when, body)
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(when.timestamp())), "Webhook-Signature": signature}


@pytest.mark.parametrize("body", [BODY, BODY.encode()])
def test_a_signed_body_is_an_event(body: str | bytes) -> None:
    event = webhooks.unwrap(body, sent(), SECRET)
    assert (event.id, event.subject, event.data) == ("e1", "sim_1", {"ü": 1})


def test_the_vector_of_the_specification() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    with pytest.raises(WebhookError, match="not a CloudEvent"):  # signed, but no event
        webhooks.unwrap('{"test": 2432232314}', headers, SECRET, now=1614265330)
    with pytest.raises(WebhookError, match="no signature"):
        webhooks.unwrap('{"test": 2432232315}', headers, SECRET, now=1614265330)


def test_one_of_several_signatures_and_secrets_suffices() -> None:
    headers = sent()
    headers["Webhook-Signature"] = f"v1a,xxx {sent(OTHER)['Webhook-Signature']} {headers['Webhook-Signature']}"
    assert webhooks.unwrap(BODY, headers, SECRET).id == "e1"
    assert webhooks.unwrap(BODY, sent(OTHER), [SECRET, OTHER]).id == "e1"
    assert webhooks.unwrap(BODY, sent(), SECRET.removeprefix("whsec_")).id == "e1"


@pytest.mark.parametrize("shift", [-299, 299])
def test_clocks_may_differ_by_five_minutes(shift: int) -> None:
    assert webhooks.unwrap(BODY, sent(at=10_000), SECRET, now=10_000 + shift).id == "e1"


@pytest.mark.parametrize("shift", [-301, 301])
def test_what_is_too_old_or_too_new_is_refused(shift: int) -> None:
    with pytest.raises(WebhookError, match="beyond 300 s"):
        webhooks.unwrap(BODY, sent(at=10_000), SECRET, now=10_000 + shift)


def test_what_is_not_signed_is_refused() -> None:
    for headers, words in [
        (sent(OTHER), "no signature"),
        ({**sent(), "Webhook-Id": "msg_2"}, "no signature"),
        ({**sent(), "Webhook-Signature": "v2," + sent()["Webhook-Signature"][3:]}, "no signature"),
        ({**sent(), "Webhook-Signature": sent()["Webhook-Signature"][3:]}, "no signature"),
        ({**sent(), "Webhook-Signature": ""}, "no signature"),
        ({**sent(), "Webhook-Timestamp": "soon"}, "not a number"),
        ({k: v for k, v in sent().items() if k != "Webhook-Id"}, "webhook-id is missing"),
    ]:
        with pytest.raises(WebhookError, match=words):
            webhooks.unwrap(BODY, headers, SECRET)
    with pytest.raises(WebhookError, match="no signature"):
        webhooks.unwrap(BODY + " ", sent(), SECRET)
    with pytest.raises(ValueError, match="whsec_"):
        webhooks.unwrap(BODY, sent(), "whsec_???")
