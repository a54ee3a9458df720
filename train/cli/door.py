"""Entry point of ``python train.py``: read the command, run its point or sweep, and exit."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from hydra import initialize_config_dir

from biasbridge.files.folders import IMPORTED_FROM
from biasbridge.files.verbosity import set_verbosity
from biasbridge.train.cli import CONF
from biasbridge.train.cli.command import read_command
from biasbridge.train.cli.error_messages import refuse
from biasbridge.train.cli.interrupt import GO_ON, Interrupted, interruptible
from biasbridge.train.cli.options import read_options, show
from biasbridge.train.cli.sweep import run


def main() -> NoReturn:
    """Run the command and exit: 0 all done, 1 a point failed, 2 input refused."""
    # Workers of an engine start in other folders; they must import this copy of the project.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(IMPORTED_FROM), os.environ.get("PYTHONPATH")))
    )
    try:
        with (
            interruptible(),
            initialize_config_dir(str(CONF), job_name="train", version_base="1.3"),
        ):
            options = read_options(set_verbosity(sys.argv[1:]))
            if options.cfg:
                show(options)
            status = 0 if options.cfg else run(read_command(options))
    except Exception as error:
        refuse(error)
    except Interrupted as stop:
        print(GO_ON, file=sys.stderr)
        sys.exit(stop.status)
    sys.exit(status)
