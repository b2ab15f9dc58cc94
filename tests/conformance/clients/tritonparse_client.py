"""tritonparse (pypi.org/project/tritonparse): records of compiles and launches, and what it makes of them."""

import gzip
import json
import os
import tempfile

if os.environ.get("THIRD_PARTY_DEVICE", "cpu") == "cpu":  # it reads the stages of GPUs
    os.environ["TRITIUM_TARGET"] = "emulated:90"

import torch
import triton
import triton.language as tl
from harness import DEVICE, case, main, start

start("")

from tritonparse import structured_logging  # noqa: E402
from tritonparse.parse.utils import unified_parse  # noqa: E402


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


LOGS = tempfile.mkdtemp()
structured_logging.init(LOGS, enable_trace_launch=True)


def _launch():
    x = torch.arange(1000.0, device=DEVICE)
    out = torch.empty_like(x)
    for _ in range(3):
        add[(4,)](x, x, out, 1000, 256)
    assert torch.equal(out, 2 * x)


@case
def listener_and_hooks():
    _launch()
    files = [os.path.join(LOGS, name) for name in os.listdir(LOGS)]
    events = [json.loads(line) for path in files for line in open(path)]
    kinds = [event["event_type"] for event in events]
    assert "compilation" in kinds and kinds.count("launch") >= 3, kinds
    texts = next(e for e in events if e["event_type"] == "compilation")["payload"]["file_content"]
    assert "tt.func" in texts["add.ttir"], list(texts)


@case
def parsed_logs():
    _launch()
    out = tempfile.mkdtemp()
    unified_parse(source=LOGS, out=out, overwrite=True)
    (path,) = [os.path.join(out, name) for name in os.listdir(out) if name.endswith(".ndjson.gz")]
    with gzip.open(path, "rt") as lines:
        compiled = next(e for e in map(json.loads, lines) if e["event_type"] == "compilation")
    assert {"ttir", "ttgir", "llir", "ptx"} <= set(compiled["payload"]["source_mappings"]), list(
        compiled["payload"]["source_mappings"]
    )


main()
