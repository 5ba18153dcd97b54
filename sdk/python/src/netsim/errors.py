"""What can go wrong, as exceptions: all are NetsimError, and a refusal of the service is an ApiError."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2


class NetsimError(Exception):
    """Anything that this package raises."""


class ConnectionFailed(NetsimError):
    """The service was not reached, or its answer was lost on the way: the outcome is not known."""


class UnexpectedResponse(NetsimError):
    """The answer is not one of netsim, such as a page of a proxy."""


class UploadFailed(NetsimError):
    """The object store did not take a part, or holds other bytes than the file."""


class WebhookError(NetsimError):
    """A webhook is not to be trusted: a signature is missing or wrong, or it is too old or too new."""


class WaitTimeout(NetsimError, TimeoutError):
    """The time limit of a wait is over. ``last`` is the resource as it was read last."""

    def __init__(self, message: str, last: Any) -> None:
        super().__init__(message)
        self.last = last


class RunFailed(NetsimError):
    """A simulation ended, and not as ``completed``; raised only if asked for."""

    def __init__(self, simulation: Any) -> None:
        super().__init__(f"simulation {simulation.id} is {simulation.status}: {simulation.failure_reason or 'no reason given'}")
        self.simulation = simulation


class ApiError(NetsimError):
    """The service refused a request.

    ``code`` is the stable name of the refusal, ``field`` the member or parameter that the
    message names first, ``request_id`` what an operator finds the request by, ``retry_after``
    the seconds after which the service wants the request again, and ``response`` the raw answer.
    """

    def __init__(self, response: httpx2.Response) -> None:
        error = _envelope(response)
        self.response = response
        self.status = response.status_code
        self.code: str | None = error.get("code")
        self.message: str = error.get("message") or f"{response.status_code} {response.reason_phrase}"
        self.enveloped = bool(error)
        self.field = _field(self.message) if self.status in (400, 422) else None
        self.request_id: str | None = response.headers.get("x-request-id")
        self.retry_after = _retry_after(response)
        super().__init__(f"{self.message} ({self.status} {self.code or 'without a code'}, request {self.request_id})")

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed later. A fault that the service itself reports is final without Retry-After."""
        if self.status >= 500:
            return not self.enveloped or self.status == 503 and self.retry_after is not None
        return self.status == 429 or self.status == 409 and self.retry_after is not None


class BadRequest(ApiError):
    """400: a member or parameter is wrong; ``field`` names it if the message does."""


class Unauthorized(ApiError):
    """401: there is no token, or it is malformed, expired or foreign."""


class PaymentRequired(ApiError):
    """402: the credit of the account is exhausted."""


class Forbidden(ApiError):
    """403: the token does not allow it."""


class NotFound(ApiError):
    """404: it is missing, deleted or another account's, or its feature is off."""


class Conflict(ApiError):
    """409 or 412: the state does not allow it, or another write came first.

    ``current_version`` is the version that the resource has, if the answer names it.
    """

    @property
    def current_version(self) -> str | None:
        named = re.search(r'current version "([^"]+)"', self.message)
        return self.response.headers.get("etag", "").strip('"') or (named and named[1]) or None


class Gone(ApiError):
    """410: it was there and is no more."""


class Unprocessable(ApiError):
    """422: the content cannot be acted on, or the key was used with another body."""


class RateLimited(ApiError):
    """429: a quota of the account is used up; ``retry_after`` says for how long."""


class ServerError(ApiError):
    """5xx: the service, or what is in front of or behind it, has a fault or is overloaded."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequest, 401: Unauthorized, 402: PaymentRequired, 403: Forbidden, 404: NotFound,
    409: Conflict, 410: Gone, 412: Conflict, 422: Unprocessable, 429: RateLimited,
}  # fmt: skip


def error_of(response: httpx2.Response) -> ApiError:
    """The exception for an answer that is no success."""
    kind = ServerError if response.status_code >= 500 else _BY_STATUS.get(response.status_code, ApiError)
    return kind(response)


def _envelope(response: httpx2.Response) -> dict[str, Any]:
    try:
        error = response.json()["error"]
    except (ValueError, LookupError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}


def _field(message: str) -> str | None:
    named = re.match(r"(?:query parameter |header )?'?([A-Za-z][\w.\[\]-]*)'? (?:must|is|has|may|cannot)\b", message)
    return named[1] if named else None


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds. A date counts from the Date of the answer, so a wrong clock here does no harm."""
    value = response.headers.get("retry-after", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(response.headers["date"])).total_seconds())
    except (ValueError, KeyError, TypeError):
        return None
