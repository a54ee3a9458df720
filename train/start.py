"""The first moments of a command: signals are heard, and help is given without a wait."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from train.interrupt import listen

CONF = Path(__file__).resolve().parent.parent / "conf"
HELP = ("--help", "-h")
OPTIONS = """
Options; all but the last three are Hydra's:

  -m, --multirun           run every combination of several values, such as seed=0,1,2
  -c, --cfg job|hydra|all  print the configuration and stop; also --resolve, --package KEY
  -i, --info [defaults]    print how it is composed and stop
  -cd, --config-dir DIR    read configuration files and modules of your own from DIR
  -cn, --config-name NAME  compose NAME.yaml in the place of config.yaml
  --stale rebuild          build results of other code again, as stale=rebuild does
  --verbose, --quiet       print more, or the answer alone
"""


def start() -> None:
    """``python train.py``, with the arguments of the process."""
    listen()
    if any(each in HELP for each in sys.argv[1:]):
        print(help_text(sys.argv[1:]), end="")
        return
    from train.front.door import main  # takes seconds

    main()


def help_text(arguments: Sequence[str]) -> str:
    """The configuration with its comments, what can be chosen, and, of the arguments, the files
    that they choose.
    """
    parts = ["python train.py KEY=VALUE ... +experiment=NAME; the keys, and what they are without:"]
    parts += [OPTIONS, (CONF / "config.yaml").read_text(encoding="utf-8"), "To choose from:", ""]
    for group in sorted(path for path in CONF.iterdir() if path.is_dir()):
        if options := sorted(path.stem for path in group.glob("*.yaml")):
            parts.append(f"{group.name}: {', '.join(options)}")
    parts += ["", "debias=balance --help shows that file", ""]
    for argument in arguments:
        group_name, _, option = argument.lstrip("+").partition("=")
        path = CONF / group_name / f"{option}.yaml"
        if option and path.is_file():
            parts += [f"conf/{group_name}/{option}.yaml:", "", path.read_text(encoding="utf-8")]
    return "\n".join(parts)
