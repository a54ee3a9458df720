"""A Slurm of this machine alone, with its own authentication and accounting, started by root."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS: tuple[str, ...] = ("munged", "mungekey", "slurmdbd", "slurmctld", "slurmd")
PROGRAMS += ("mariadbd", "mariadb-install-db", "my_print_defaults")

DATABASE = """
[mariadbd]
user=root
datadir={folder}/data
socket={folder}/mysql.sock
skip-networking
innodb_buffer_pool_size=64M
"""
ACCOUNTING = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
DbdHost=localhost
DbdPort={ports[0]}
SlurmUser=root
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageLoc=accounts
StorageUser=root
"""
CLUSTER = """
ClusterName=alone
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[1]}
SlurmdPort={ports[2]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={ports[0]}
AccountingStoragePass={folder}/munge.sock
JobAcctGatherType=jobacct_gather/linux
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
KillWait=2
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=2000 State=UNKNOWN
PartitionName=short Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """A controller and a node of this machine; the environment in which Slurm's commands find
    them. The test is skipped where the programs are not installed, or not started by root.
    """
    if os.geteuid() or not all(map(shutil.which, PROGRAMS)):
        pytest.skip("needs root and the Debian packages that docs/reliability.md names")
    for name in ("state", "spool", "data"):
        (folder / name).mkdir()
    values = {"folder": folder, "host": socket.gethostname(), "cpus": os.cpu_count()}
    values["ports"] = _free_ports(3)
    confs = (("my.cnf", DATABASE), ("slurmdbd.conf", ACCOUNTING), ("slurm.conf", CLUSTER))
    for name, text in confs:
        (folder / name).write_text(text.format(**values), encoding="utf-8")
        (folder / name).chmod(0o600)
    environment = os.environ | {
        "SLURM_CONF": str(folder / "slurm.conf"),
        "MYSQL_UNIX_PORT": str(folder / "mysql.sock"),
    }
    defaults = f"--defaults-file={folder}/my.cnf"
    munge = [
        f"--{name}={folder}/munge.{name[:3]}" for name in ("pid-file", "log-file", "seed-file")
    ]
    munge = ["--socket", f"{folder}/munge.sock", "--key-file", f"{folder}/munge.key", *munge]
    _call(["mungekey", "--create", f"--keyfile={folder}/munge.key"], environment)
    _call(["mariadb-install-db", defaults, "--auth-root-authentication-method=normal"], environment)
    daemons: list[subprocess.Popen[bytes]] = []
    log = (folder / "daemons.log").open("wb")

    def daemon(*command: str) -> None:
        daemons.append(
            subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        )

    try:
        daemon("munged", "--foreground", "--force", *munge)
        daemon("mariadbd", defaults)
        _until(lambda: (folder / "mysql.sock").exists() and (folder / "munge.sock").exists())
        daemon("slurmdbd", "-D")
        _until(lambda: _works(["sacctmgr", "-i", "add", "cluster", "alone"], environment))
        daemon("slurmctld", "-D")
        daemon("slurmd", "-D", "-N", socket.gethostname())
        _until(lambda: b"idle" in _said(["sinfo", "-h", "-o", "%T"], environment))
        yield environment
    finally:
        _said(["scancel", "--signal=KILL", "--full", "--user=root"], environment)
        for each in reversed(daemons):
            each.terminate()
        for each in daemons:
            each.wait(timeout=60)
        log.close()


def _free_ports(count: int) -> list[int]:
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in found]
    for each in found:
        each.close()
    return ports


def _call(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _said(command: list[str], environment: dict[str, str]) -> bytes:
    return subprocess.run(command, env=environment, capture_output=True, check=False).stdout


def _works(command: list[str], environment: dict[str, str]) -> bool:
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.returncode == 0


def _until(condition: Callable[[], bool], within: float = 90) -> None:
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, "a daemon did not come up; see daemons.log"
        time.sleep(0.5)
