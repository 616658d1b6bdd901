"""The command that serves the lab."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from typer.testing import CliRunner

from verulam.cli._main import app

BLOCKED = """
import sys
for name in ("panel", "bokeh"):
    sys.modules[name] = None
import verulam.lab
from verulam.cli import main
assert verulam.lab.PlaneState().task == "classification"
main(["lab"])
"""


def test_without_the_extra_it_says_how_to_get_it():
    run = subprocess.run(
        [sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "needs Panel and Bokeh: pip install 'verulam[lab]'" in run.stderr


def test_a_port_out_of_range_is_refused():
    outcome = CliRunner().invoke(app, ["lab", "--port", "70000"])
    assert outcome.exit_code == 2
    assert "--port" in outcome.output


@pytest.mark.slow
def test_it_serves_until_it_is_interrupted():
    code = "from verulam.cli import main; main(['lab', '--no-browser'])"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(3)]
        address = re.search(r"http://127.0.0.1:\d+/plane\?token=\S+", "".join(lines))[0]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address.partition("?")[0])
        assert refused.value.code == 403
        refused.value.close()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 0
