#!/usr/bin/env python3
"""Make the virtual environment that a `make` target needs; do nothing, quickly, where it is there already.

    python3 scripts/environment.py demo|test|check|bench|docs

Needs Python >= 3.10 and nothing else: no pip, no ensurepip, no wheel. An older interpreter gets a clear message
(this file keeps to Python 3.6 syntax for that), or hands over to a newer one found on PATH. The environment
is `.venv` (or $VENV); a stamp file in it, keyed on pyproject.toml, this file and the interpreter, says what is in it.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, os.environ.get("VENV", ".venv"))
PYTHON = os.path.join(VENV, "bin", "python")

#: target -> (the extras it installs, whether torch is wanted)
PROFILES = {
    "demo": ([], True),
    "test": (["test"], True),
    "check": (["dev"], False),
    "bench": (["bench"], True),
    "docs": (["docs"], False),
}

#: extra -> (what it is, what happens without it), for the tests
OPTIONAL = {
    "nvidia": (
        "NVIDIA's assembler for GPU kernels (about 130 MB)",
        "tests that need it are skipped where no CUDA toolkit has it",
    ),
    "browser": ("Playwright (about 50 MB)", "tests of the explorer's page are skipped"),
}

#: The CPU build only: PyPI's Linux wheels of torch bring several GB of CUDA packages with them.
TORCH = "torch==2.13.0+cpu" if sys.platform.startswith("linux") else "torch==2.13.0"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def say(message):
    sys.stderr.write("environment: " + message + "\n")
    sys.stderr.flush()


def new_enough():
    """Return True on Python >= 3.10; otherwise re-run this script under a newer Python, or stop with a message."""
    if sys.version_info >= (3, 10):
        return True
    for minor in range(14, 9, -1):
        other = shutil.which("python3.%d" % minor)
        if other and subprocess.call([other, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            os.execv(other, [other] + sys.argv)
    say("Tritium needs Python 3.10 or newer; %s is %d.%d." % ((sys.executable,) + tuple(sys.version_info[:2])))
    say("Install one, or name it: make PYTHON=/path/to/python3.12 " + " ".join(sys.argv[1:]))
    return False


def holds(path, content):
    """Whether the file at `path` exists and is exactly `content`."""
    if not os.path.exists(path):
        return False
    with open(path) as file:
        return file.read() == content


def fingerprint():
    """A digest of everything that decides what the environment holds."""
    digest = hashlib.sha256(("%s %s" % (sys.version, ROOT)).encode())
    for name in ("pyproject.toml", os.path.join("scripts", "environment.py")):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def pip(*arguments, **how):
    """Run pip in the environment. Return (succeeded, its output).

    Packages are not compiled to bytecode: 9,000 files take 30 s, of which a run imports a quarter. Python does it then.
    """
    command = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--no-input"] + list(arguments)
    if arguments[0] == "install":
        command.append("--no-compile")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT, **how)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def pip_wheel_from_index(folder):
    """Download pip itself (for systems whose Python comes without ensurepip), checking its digest. Return the path."""
    index = "https://pypi.org/pypi/pip/json"
    with urllib.request.urlopen(index, timeout=60) as answer:
        files = json.loads(answer.read().decode())["urls"]
    wheel = next(f for f in files if f["filename"].endswith("py3-none-any.whl"))
    with urllib.request.urlopen(urllib.parse.urljoin(index, wheel["url"]), timeout=60) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != wheel["digests"]["sha256"]:
        raise RuntimeError("the downloaded pip does not match its published digest")
    path = os.path.join(folder, wheel["filename"])
    with open(path, "wb") as file:
        file.write(content)
    return path


def create():
    """Create the environment, with pip in it."""
    say("creating %s with Python %s" % (os.path.relpath(VENV), sys.version.split()[0]))
    if os.path.isdir(VENV):
        shutil.rmtree(VENV)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.call([sys.executable, "-m", "venv", VENV], **quiet) == 0:
        return
    say("this Python has no ensurepip (Debian keeps it in python3-venv): fetching pip from the package index")
    if os.path.isdir(VENV):
        shutil.rmtree(VENV)
    subprocess.check_call([sys.executable, "-m", "venv", "--without-pip", VENV])
    with tempfile.TemporaryDirectory() as folder:
        wheel = pip_wheel_from_index(folder)
        subprocess.check_call([PYTHON, os.path.join(wheel, "pip"), "install", "--quiet", "--no-index", wheel])


def install_torch():
    """Install the CPU build of torch where one is to be had. Its absence is no error: what needs it says so."""
    if subprocess.call([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL) == 0:
        return
    say("installing " + TORCH + " (about 200 MB; optional)")
    attempts = [[], ["--extra-index-url", TORCH_CPU_INDEX, "--retries", "1"]]
    for extra in attempts if sys.platform.startswith("linux") else attempts[:1]:
        if pip("install", TORCH, *extra)[0]:
            return
    say("torch could not be installed: tests and comparisons that need it are skipped, everything else runs")


def install_optional(extra):
    """Install an extra whose absence is no error: what needs it says so."""
    what, without = OPTIONAL[extra]
    say("installing %s (optional)" % what)
    if not pip("install", "--editable", ".[%s]" % extra)[0]:
        say("could not be installed: " + without)


def install(profile):
    """Install the project with a profile's extras into the environment."""
    extras, torch = PROFILES[profile]
    optional = sorted(OPTIONAL) if profile == "test" and platform.system() == "Linux" else []
    target = "." + ("[%s]" % ",".join(extras) if extras else "")
    say("installing tritium" + target[1:])
    if optional and pip("install", "--editable", ".[%s]" % ",".join(extras + optional))[0]:  # one run of pip, not three
        done, optional = True, []
    else:
        done, output = pip("install", "--editable", target)
    if not done:
        sys.stderr.write(output)
        say("the installation failed; pip's own output is above")
        return False
    if torch:
        install_torch()
    for extra in optional:
        install_optional(extra)
    return True


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PROFILES:
        say("usage: environment.py " + "|".join(sorted(PROFILES)))
        return 2
    if not new_enough():
        return 1
    profile = sys.argv[1]
    key = fingerprint()
    stamp = os.path.join(VENV, ".installed-" + profile)
    base = os.path.join(VENV, ".python")
    if holds(stamp, key) and os.path.exists(PYTHON):
        return 0
    if not (holds(base, sys.version) and os.path.exists(PYTHON)):
        create()
        with open(base, "w") as file:
            file.write(sys.version)
    if not install(profile):
        return 1
    with open(stamp, "w") as file:
        file.write(key)
    return 0


if __name__ == "__main__":
    sys.exit(main())
