"""Many bytes are hashed by OpenSSL, few without loading it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("more", "loaded"), [(-1, False), (0, True)])
def test_only_many_bytes_load_openssl(more: int, loaded: bool) -> None:
    code = (
        "import sys\n"
        "from tritium.support.hashing import LARGE, sha256, sha256_of_many\n"
        f"data = bytes(LARGE + {more})\n"
        "assert sha256_of_many(data).digest() == sha256(data).digest()\n"
        "print('hashlib' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loaded)
