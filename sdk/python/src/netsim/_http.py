"""Requests as netsim wants them: with a token, repeated safely, and reading the client's own writes."""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2

from ._codec import Model, decode, encode
from ._tables import Paged as Paged
from .errors import ConnectionFailed, NetsimError, UnexpectedResponse, error_of

T = TypeVar("T")
M = TypeVar("M", bound=Model)
Version = str | int | Model
JSON = Mapping[str, Any]


@dataclass(frozen=True)
class Retries:
    """How a read, or a write with its key, is repeated after 429, 503 and lost answers.

    A request is sent ``attempts`` times at most, the last time before ``total`` seconds are
    over. The pauses have full jitter: from 0 to ``first`` seconds, doubled each time up to
    ``most``, and what the service asks for in Retry-After is waited for before.
    """

    attempts: int = 10
    total: float = 60.0
    first: float = 0.2
    most: float = 5.0

    def pause(self, failures: int, retry_after: float | None = None) -> float:
        return (retry_after or 0.0) + random.uniform(0, min(self.most, self.first * 2**failures))


class Consistency:
    """The tokens that the next read sends so that it shows what the client wrote and read before."""

    _most = 16  # tokens of a request

    def __init__(self) -> None:
        self._tokens: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def header(self) -> dict[str, str]:
        """Beyond 16 writes without a read it is empty: such a read goes to the database that has every write."""
        return {"Consistency-Token": ",".join(self._tokens)} if 0 < len(self._tokens) <= self._most else {}

    def wrote(self, token: str) -> None:
        with self._lock:
            self._tokens = (*self._tokens, token)

    def read(self, asked: str, token: str) -> None:
        """A read's token stands for those that the read asked for."""
        with self._lock:
            self._tokens = (token, *(t for t in self._tokens if t not in asked.split(",")))


class Transport:
    """The connection to a service. Clients of several threads may share one.

    ``token`` is a bearer token, or a function that gives a fresh one: it is called for the
    first request, and again when the service refuses the token.
    """

    def __init__(
        self,
        base_url: str | None = None,
        token: str | Callable[[], str] | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries = Retries(),
        http: httpx2.Client | None = None,
    ) -> None:
        base_url = base_url or os.environ.get("NETSIM_URL", "")
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"the base URL is {base_url!r}, not one such as https://netsim.example: give it, or set NETSIM_URL")
        self._base_url = base_url.rstrip("/").removesuffix("/api/v1")
        self._token = token or os.environ.get("NETSIM_TOKEN")
        self._bearer = self._token if isinstance(self._token, str) else None
        self._lock = threading.Lock()
        self._retries = retries
        self._consistency = Consistency()
        self._http = http or httpx2.Client(timeout=timeout, headers={"User-Agent": "netsim-python/0.3.0"})
        self._sleep: Callable[[float], object] = time.sleep

    def close(self) -> None:
        self._http.close()

    def read(self, kind: type[T], method: str, path: str, *, query: JSON | None = None, body: Any = None) -> T:
        """Sends a request that changes nothing, with the consistency token of what came before."""
        headers = self._consistency.header()
        response = self.send(method, path, query=query, body=body, headers=headers, repeat=True)
        if headers and (token := response.headers.get("consistency-token")):
            self._consistency.read(headers["Consistency-Token"], token)
        return _decode(kind, response)

    def write(
        self,
        kind: type[T],
        method: str,
        path: str,
        *,
        query: JSON | None = None,
        body: Any = None,
        key: str | None = None,
        if_match: Version | None = None,
    ) -> T:
        """Sends a write. All its repeats carry one key, so that it happens once."""
        headers = {"Idempotency-Key": key or str(uuid.uuid4())}
        if if_match is not None:
            headers["If-Match"] = _entity_tag(if_match)
        response = self.send(method, path, query=query, body=body, headers=headers, repeat=True)
        if token := response.headers.get("consistency-token"):
            self._consistency.wrote(token)
        return _decode(kind, response)

    def paged(self, page: type[M], items: str, path: str, *, query: JSON) -> Paged[Any, M]:
        first = query.get("next")
        return Paged(lambda cursor: self.read(page, "GET", path, query={**query, "next": cursor or first}), items)

    def download(self, path: str, *, query: JSON | None = None) -> Download:
        return Download(self, path, query or {})

    def send(
        self,
        method: str,
        path: str,
        *,
        query: JSON | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        repeat: bool = False,
    ) -> httpx2.Response:
        """Sends a request to a path below the service, and again if that is safe and may help."""
        content: dict[str, Any] = {} if body is None else {"json": encode(body)}

        def attempt(bearer: str | None) -> httpx2.Response:
            return self._http.request(method, self._url(path), params=_query(query), headers=self._headers(headers, bearer), **content)

        return self.repeated(lambda: self._authorized(attempt), repeat=repeat)

    def repeated(self, attempt: Callable[[], httpx2.Response], *, repeat: bool = True) -> httpx2.Response:
        """Makes attempts until one succeeds, or the failure is final, or the Retries are used up."""
        began, failures = time.monotonic(), 0
        while True:
            failure: NetsimError
            try:
                response = attempt()
            except httpx2.TransportError as e:
                failure = ConnectionFailed(f"the answer was lost: {e or type(e).__name__}")
                failure.__cause__ = e
                temporary, retry_after = True, None
            else:
                if response.is_success:
                    return response
                failure = refusal = error_of(response)
                temporary, retry_after = refusal.temporary, refusal.retry_after
            pause = self._retries.pause(failures, retry_after)
            failures += 1
            late = time.monotonic() + pause - began > self._retries.total
            if not repeat or not temporary or late or failures >= self._retries.attempts:
                raise failure
            self._sleep(pause)

    @contextmanager
    def stream(
        self, path: str, *, query: JSON | None = None, headers: Mapping[str, str] | None = None, silence: float | None = None
    ) -> Iterator[httpx2.Response]:
        """Opens an answer that is read as it comes; ConnectionFailed when nothing comes for ``silence`` seconds."""
        timeout = httpx2.Timeout(self._http.timeout.connect, read=silence or self._http.timeout.read)

        def open_it(bearer: str | None) -> httpx2.Response:
            request = self._http.build_request(
                "GET", self._url(path), params=_query(query), headers=self._headers(headers, bearer), timeout=timeout
            )
            return self._http.send(request, stream=True)

        try:
            response = self._authorized(open_it)
            try:
                if not response.is_success:
                    response.read()
                    raise error_of(response)
                yield response
            finally:
                response.close()
        except httpx2.TransportError as e:
            raise ConnectionFailed(f"the stream was cut: {e or type(e).__name__}") from e

    def _authorized(self, attempt: Callable[[str | None], httpx2.Response]) -> httpx2.Response:
        """Makes an attempt, and a second one with a fresh token if the service refuses the first one's."""
        bearer = self._fresh(None)
        response = attempt(bearer)
        if response.status_code == 401 and callable(self._token):
            response.close()
            response = attempt(self._fresh(bearer))
        return response

    def _fresh(self, refused: str | None) -> str | None:
        with self._lock:
            if callable(self._token) and self._bearer == refused:
                self._bearer = self._token()
            return self._bearer

    def _headers(self, headers: Mapping[str, str] | None, bearer: str | None) -> dict[str, str]:
        return {**({"Authorization": f"Bearer {bearer}"} if bearer else {}), **(headers or {})}

    def _url(self, path: str) -> str:
        return self._base_url + path


def lines(response: httpx2.Response) -> Iterator[str]:
    """The whole lines of a stream. They end with LF alone: texts have characters that Python takes for ends of lines."""
    rest = b""
    for chunk in response.iter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line.decode().removesuffix("\r") for line in whole)


class Download:
    """The bytes of a file: iterate over them, or ``read`` or ``save`` them."""

    def __init__(self, transport: Transport, path: str, query: JSON) -> None:
        self._transport, self._path, self._query = transport, path, query

    def __iter__(self) -> Iterator[bytes]:
        with self._transport.stream(self._path, query=self._query) as response:
            yield from response.iter_bytes()

    def read(self) -> bytes:
        """All bytes; a cut download is begun again."""
        return self._transport.send("GET", self._path, query=self._query, repeat=True).content

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file; it has its name only when it is whole."""
        whole = Path(path)
        part = whole.with_name(whole.name + ".part")
        with part.open("wb") as file:
            for chunk in self:
                file.write(chunk)
        return part.replace(whole)


def segment(value: object) -> str:
    """A value as one segment of a path."""
    return quote(str(value), safe="")


def _entity_tag(version: Version) -> str:
    if isinstance(version, Model):
        return version.http.headers["etag"]
    tag = str(version)
    return tag if tag == "*" or '"' in tag else f'"{tag}"'


def _query(query: JSON | None) -> dict[str, Any]:
    return {name: encode(value) for name, value in (query or {}).items() if value is not None}


def _decode(kind: type[T], response: httpx2.Response) -> T:
    if not response.content:
        return None  # type: ignore[return-value]  # the generated method says so, where the contract does
    try:
        value = response.json()
    except ValueError as e:
        raise UnexpectedResponse(f"the answer is {response.headers.get('content-type')}, not JSON") from e
    result = decode(kind, value)
    if isinstance(result, Model):
        result.__dict__["_http"] = response
    return result

