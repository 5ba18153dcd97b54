"""Webhooks of netsim, verified as Standard Webhooks 1.0.0 describes (HMAC-SHA256, ``v1``)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping

from .errors import WebhookError
from .events import Event

TOLERANCE = 300.0
"""Seconds by which the clocks of sender and receiver may differ, with the time of the delivery."""


def unwrap(
    body: bytes | str, headers: Mapping[str, str], secret: str | Iterable[str], *, now: float | None = None
) -> Event:
    """Returns the event of a delivery, or raises WebhookError.

    ``body`` is the body as it came, before anything parsed it. ``secret`` is what the
    subscription showed, with or without ``whsec_``; while it is rotated, both secrets.
    One matching signature suffices. ``now`` is the time in seconds since 1970.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp, signatures = (sent[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = (time.time() if now is None else now) - int(timestamp)
    except KeyError as e:
        raise WebhookError(f"the header {e.args[0]} is missing") from None
    except ValueError:
        raise WebhookError("webhook-timestamp is not a number of seconds") from None
    if abs(age) > TOLERANCE:
        raise WebhookError(f"the webhook is of {age:.0f} s ago, which is beyond {TOLERANCE:.0f} s")

    raw = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + raw
    given = [s.removeprefix("v1,").encode() for s in signatures.split() if s.startswith("v1,")]
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [base64.b64encode(hmac.digest(_key(s), signed, hashlib.sha256)) for s in secrets]
    # Every pair is compared, so that the time does not say which one matched.
    if not any([hmac.compare_digest(e, g) for e in expected for g in given]):
        raise WebhookError("no signature of the webhook is that of the secret")
    try:
        return Event.from_json(json.loads(raw))
    except (ValueError, LookupError, TypeError) as e:
        raise WebhookError(f"the body is not a CloudEvent: {e}") from e


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        raise ValueError("the secret is not whsec_ followed by base64") from None
