"""Run every benchmark and print a Markdown table: `python -m benchmarks.run [--smoke]`."""

import argparse
import sys

from benchmarks import (
    bench_branches,
    bench_changed,
    bench_check,
    bench_notary,
    bench_report,
    bench_runs,
    bench_score,
    bench_sources,
    bench_studies,
    bench_trulens,
    bench_worth,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "--smoke", action="store_true", help="tiny sizes, one round: results matter, times do not"
    )
    smoke = parser.parse_args().smoke
    print("| what, to what | ratio | at most | median times |\n|---|---|---|---|", flush=True)
    missed = 0
    for bench in (
        bench_check,
        bench_changed,
        bench_score,
        bench_sources,
        bench_notary,
        bench_worth,
        bench_report,
        bench_studies,
        bench_branches,
        bench_trulens,
        bench_runs,
    ):
        for row in bench.run(smoke=smoke):
            print(row, flush=True)
            missed += not row.met
    return 1 if missed and not smoke else 0


if __name__ == "__main__":
    sys.exit(main())
