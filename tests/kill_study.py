"""Runs a scripted study, kills it at random moments, and goes on with it, until it is finished: `python kill_study.py FOLDER SEEDS KILLS`.

Each run is a process of its own, forked from this one, which has everything imported; it is killed by SIGKILL. After some kills
the store's file is also cut at a random byte of its last line, as a lost power does it.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ludic_deepeval.llm.budget import Meter
from ludic_deepeval.studies.frozen import Sidecar, freeze, require_same
from ludic_deepeval.studies.models import Models
from ludic_deepeval.studies.plan import StudyPlan
from ludic_deepeval.studies.runner import perform, run_study
from ludic_deepeval.studies.store import SIDECAR, TRIALS, Store
from ludic_deepeval.trial import TrialFolder
from tests.scripted_study import TWO_BY_TWO, opened, planned


def warm_up(plan: StudyPlan) -> None:
    """Do each kind of trial once in this process, so that what is built at first use is built before the forks."""
    models = Models(
        opener=opened
    )  # not closed: that would start the thread of `llm.loop`, which no fork survives
    with TemporaryDirectory() as folder:
        for key in plan.trials[:4]:
            asyncio.run(perform(plan, key, TrialFolder(Path(folder) / key.folder), models, Meter(), 0))


def go_on(folder: Path, plan: StudyPlan, sidecar: Sidecar) -> None:
    """What `ludic study run` does, with scripts for models."""
    store = Store(folder)
    with store.locked(), Models(opener=opened) as models:
        if store.exists:
            store.mend()
            require_same(store.sidecar(), sidecar, folder / SIDECAR)
        else:
            store.begin(sidecar)
        found = run_study(store, plan, models, at_once=3)
        if found.failed:
            raise found.failed[0][1]


def main() -> None:
    folder, seeds, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    text = TWO_BY_TWO.format(seeds=seeds)
    plan = planned(text)
    sidecar = freeze(plan, text, created="2026-01-01T00:00:00+00:00")
    warm_up(plan)
    chance = random.Random(7)  # noqa: S311  # moments, not keys
    killed = cut = finished = 0
    kept: list[int] = []
    while killed < kills:
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            try:
                go_on(folder, plan, sidecar)
            except BaseException as error:  # noqa: BLE001  # whatever it is, the parent is to say it
                print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
                os._exit(3)
            os._exit(0)
        time.sleep(chance.random() * 0.5)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended == 0:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        elif os.WEXITSTATUS(status):
            sys.exit(f"a run failed after {time.monotonic() - begun:.1f} s and {killed} kills")
        else:
            finished += 1
        trials = folder / TRIALS
        if trials.exists():
            data = trials.read_bytes()
            kept.append(data.count(b"\n"))
            # Sometimes the last line loses its end; sometimes a finished study loses many, so that there is more to kill.
            if finished or chance.random() < 0.3:
                last = data[:-1].rfind(b"\n") + 1
                at = chance.randrange(last, len(data) + 1) if not finished else chance.randrange(len(data))
                os.truncate(trials, at)
                cut += 1
            finished = 0
    go_on(folder, plan, sidecar)
    print(json.dumps({"killed": killed, "cut": cut, "kept": kept}))  # noqa: T201  # what the test reads


if __name__ == "__main__":
    main()
