"""The notebook of the examples, from a submission to its plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import netsim

NOTEBOOK = Path(__file__).parent.parent / "examples" / "study.ipynb"


@pytest.mark.service
def test_the_notebook_draws_a_front(service: netsim.Client) -> None:
    notebook: Any = nbformat.reads(NOTEBOOK.read_text(), as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("completed" in output.get("data", {}).get("text/plain", "") for output in outputs)
