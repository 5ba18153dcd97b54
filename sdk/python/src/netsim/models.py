"""The resources of the contract, as classes."""

from ._generated.models import *
