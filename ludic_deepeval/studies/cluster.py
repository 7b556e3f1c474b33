"""A study's trials on a Dask cluster: workers do them, and this process alone writes the store (extra `cluster`).

A trial's drafts come back with it. Each worker makes sure that it runs the code and the packages that were frozen. The limits of
`[concurrency]` hold in each worker; a budget is kept by letting no trial begin whose worst case does not fit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ludic_deepeval.errors import InputError, LudicError, ModelError, clean
from ludic_deepeval.files import dump_json, write_atomic
from ludic_deepeval.llm.budget import Budget, Meter, Preview, Spent
from ludic_deepeval.llm.loop import run
from ludic_deepeval.studies.frozen import Sidecar, environment, load_sidecar
from ludic_deepeval.studies.models import Models, Opener
from ludic_deepeval.studies.plan import StudyPlan, TrialKey
from ludic_deepeval.studies.runner import Begun, OnLine, Run, perform
from ludic_deepeval.studies.store import Store
from ludic_deepeval.trial import TrialFolder
from ludic_deepeval.trial_plan import cost_of

_STRESS: Final = Preview(12, 12 * 8_000, 12 * 6_000)  # three plans and three labellings, each asked twice
_AHEAD: Final = 2  # trials for each worker that wait at the cluster


def run_on_cluster(  # noqa: PLR0913  # what is run, where, and what it may cost
    store: Store,
    plan: StudyPlan,
    sidecar: Sidecar,
    address: str,
    *,
    meter: Meter | None = None,
    record: Path | None = None,
    most: int | None = None,
    opener: Opener | None = None,
    on_line: OnLine = lambda *_: None,
) -> Run:
    """Do the trials of a study that are not kept yet, on a cluster; see `runner.run_study`.

    Args:
        store: Where they are kept; the caller holds it.
        plan: Which.
        sidecar: What a run is set to now, which each worker has to be set to as well.
        address: The scheduler's, or `local:2` for so many workers here.
        meter: What may be spent.
        record: Where the workers record answers.
        most: End after so many trials.
        opener: What opens a model on a worker, in place of `llm.names.open_model`.
        on_line: Told of each trial once it is on the disk.

    Raises:
        InputError: No Dask, no such cluster, or a worker with other code.
    """
    meter = meter or Meter()
    begun = Begun(store, plan, meter, on_line)
    purse = _Purse(meter)
    data = dump_json(sidecar.model_dump(mode="json"))
    with client_at(address) as client:
        from distributed import as_completed  # noqa: PLC0415

        waiting = iter(begun.left[:most])
        under_way: dict[str, tuple[TrialKey, Preview]] = {}
        ended = as_completed(with_results=False)

        def fill(count: int) -> None:
            for _ in range(count):
                if begun.run.stopped is not None or (key := next(waiting, None)) is None:
                    return
                worst = _worst(plan, key)
                if why := purse.short_of(worst):
                    begun.run.stopped = ModelError("budget", "the cluster", why)
                    return
                purse.hold(worst)
                future = client.submit(
                    remote_trial, data, dict(key.cell), key.seed, begun.log,
                    (worst.calls, worst.prompt_tokens + worst.completion_tokens) if purse.bounded else None,
                    str(record) if record else None, opener,
                    pure=False,
                )  # fmt: skip
                under_way[future.key] = (key, worst)
                ended.add(future)

        fill(_AHEAD * max(1, sum(client.nthreads().values())))
        try:
            for future in ended:
                key, worst = under_way.pop(future.key)
                found = _result(future)
                purse.settle(worst, found.spent)
                _keep(begun, store, key, found)
                fill(1)
        except KeyboardInterrupt:
            begun.run.stopped = "interrupted"
    begun.run.spent = meter.spent
    return begun.run


@dataclass
class _Found:
    line: dict[str, Any] | None = None
    error: LudicError | None = None
    files: dict[str, str] | None = None
    spent: Spent = field(default_factory=Spent)


def _keep(begun: Begun, store: Store, key: TrialKey, found: _Found) -> None:
    if found.error is not None:
        if isinstance(found.error, ModelError) and found.error.for_all:
            begun.run.stopped = found.error
        else:
            begun.keep(key, found.error)
        return
    assert found.line is not None  # noqa: S101  # one or the other
    folder = store.trial_folder(key.folder)
    folder.mkdir(exist_ok=True)
    for name, text in (found.files or {}).items():
        write_atomic(folder / Path(name).name, text)
    begun.keep(key, found.line)


def _result(future: Any) -> _Found:
    """What a worker sent back; what it raised, or that it died, is this trial's failure."""
    error = future.exception()
    if error is not None:
        if isinstance(error, InputError):
            raise error
        return _Found(
            error=ModelError("dropped", "the cluster", clean(f"{type(error).__name__}: {error}", limit=300))
        )
    sent = future.result()
    spent = Spent(**sent["spent"])
    if "failed" in sent:
        failed = sent["failed"]
        return _Found(error=ModelError(failed["kind"], failed["model"], failed["found"]), spent=spent)
    return _Found(line=sent["line"], files=sent["files"], spent=spent)


def remote_trial(
    data: str,
    cell: dict[str, str],
    seed: int,
    log: int,
    limits: tuple[int, int] | None,
    record: str | None,
    opener: Opener | None,
) -> dict[str, Any]:
    """Do one trial in a worker; plain values in and out.

    Raises:
        InputError: The worker runs other code than was frozen.
    """
    sidecar, plan = _plan_of(data)
    _require_same_code(sidecar)
    key = TrialKey(cell, seed)
    meter = Meter(Budget(*limits) if limits else None)
    with TemporaryDirectory(prefix="ludic-") as temporary:
        folder = Path(temporary) / "trial"
        models = Models(plan.design.concurrency, Path(record) if record else None, opener)
        try:
            with models:
                line = run(perform(plan, key, TrialFolder(folder), models, meter, log))
        except ModelError as error:
            failed = {"kind": error.kind, "model": error.model, "found": error.found}
            return {"failed": failed, "spent": _spent(meter)}
        files = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.is_file()}
    return {"line": line, "files": files, "spent": _spent(meter)}


def _spent(meter: Meter) -> dict[str, int]:
    return {name: getattr(meter.spent, name) for name in Spent.__slots__}


@lru_cache(maxsize=4)
def _plan_of(data: str) -> tuple[Sidecar, StudyPlan]:
    sidecar = load_sidecar(data.encode("utf-8"), "the frozen study")
    return sidecar, sidecar.plan("the frozen study")


@lru_cache(maxsize=1)
def _here() -> Any:
    return environment()


def _require_same_code(sidecar: Sidecar) -> None:
    if _here() != sidecar.environment:
        was, here = sidecar.environment.model_dump(), _here().model_dump()
        differs = next(name for name in was if was[name] != here[name])
        raise InputError(
            "a worker of the cluster",
            f"it differs in {differs}: {clean(str(was[differs]), limit=200)}, and there {clean(str(here[differs]), limit=200)}",
            allowed="the same code and packages on every worker",
        )


@contextmanager
def client_at(address: str) -> Iterator[Any]:
    """Connect to a cluster: a scheduler's address, or `local:2` for so many workers here.

    Raises:
        InputError: No Dask, or no such cluster.
    """
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "--cluster", "Dask is not installed", hint="pip install 'ludic-worth[cluster]'"
        ) from None
    kind, _, count = address.partition(":")
    if kind == "local":
        if not count.isdigit() or not 1 <= int(count) <= 256:
            raise InputError(
                "--cluster", f"found '{clean(address)}'", allowed="local:2, or a scheduler's address"
            )
        with (
            LocalCluster(n_workers=int(count), threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError("--cluster", f"no cluster at '{clean(address)}' ({clean(str(error))})") from None
    with client:
        yield client


class _Purse:
    """What may be spent, trial by trial: a trial takes its worst case while it is under way.

    Args:
        meter: The study's.
    """

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._calls = self._tokens = 0

    @property
    def bounded(self) -> bool:
        budget = self._meter.budget
        return budget.calls is not None or budget.tokens is not None

    def short_of(self, worst: Preview) -> str:
        budget, spent = self._meter.budget, self._meter.spent
        if budget.calls is not None and spent.calls + self._calls + worst.calls > budget.calls:
            return f"of the budget of {budget.calls:,} calls not enough is left for another trial ({worst.calls:,} at most)"
        most = worst.prompt_tokens + worst.completion_tokens
        if budget.tokens is not None and spent.tokens + self._tokens + most > budget.tokens:
            return f"of the budget of {budget.tokens:,} tokens not enough is left for another trial ({most:,} at most)"
        return ""

    def hold(self, worst: Preview) -> None:
        self._calls += worst.calls
        self._tokens += worst.prompt_tokens + worst.completion_tokens

    def settle(self, worst: Preview, spent: Spent) -> None:
        self._calls -= worst.calls
        self._tokens -= worst.prompt_tokens + worst.completion_tokens
        self._meter.spent += spent


def _worst(plan: StudyPlan, key: TrialKey) -> Preview:
    _, most = cost_of(plan.plan(key), plan.setting(key))
    return Preview(
        2 * most.calls + _STRESS.calls,  # a quote that was not found is asked for once more
        2 * most.prompt_tokens + _STRESS.prompt_tokens,
        2 * most.completion_tokens + _STRESS.completion_tokens,
    )
