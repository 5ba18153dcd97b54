"""Client of netsim: network simulations of collective workloads on modelled fabrics.

>>> import netsim
>>> client = netsim.Client("https://netsim.example", token)
"""

from . import errors, models, webhooks
from ._codec import Model
from ._http import Download, Retries
from ._tables import Paged, Rows
from .client import FINAL, Client
from .errors import ApiError, Conflict, NetsimError, NotFound, RateLimited, RunFailed, WaitTimeout, WebhookError
from .events import Event, FileStore, MemoryStore, Store

__all__ = [
    "FINAL", "ApiError", "Client", "Conflict", "Download", "Event", "FileStore", "MemoryStore", "Model", "NetsimError",
    "NotFound", "Paged", "RateLimited", "Retries", "Rows", "RunFailed", "Store", "WaitTimeout", "WebhookError",
    "errors", "models", "webhooks",
]  # fmt: skip
