"""Checks the examples for TPUs, as `make tpu-check` does. In: the path of libtpu.so. Out: docs/tpu_check.md.

The exit code is 0 when every program is accepted and every run fits.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = [["examples/digits.py", "--quick"], ["examples/gpt.py", "--steps", "3"]]
TOPOLOGIES = ["v5e:2x2", "v6e:2x2"]
MIB = 2**20
HEAD = """# The examples, compiled for TPUs

Made by `make tpu-check`, with {compiler}. Nothing ran on a TPU: these are the verdicts of its compiler
([checking.md](checking.md)). Memory in MiB, of one device; FLOPs of the largest program, of one run.

| script | topology | programs | accepted | largest FLOPs | peak | limit | host ops | verdict |
|---|---|---:|---:|---:|---:|---:|---|---|
"""


def check(script, name, compiler):
    """The report of one check."""
    command = [sys.executable, "-m", "torch_tpu", "check", "--json", "--compiler", compiler, "--topology", name]
    done = subprocess.run([*command, *script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"the check of {' '.join(script)} for {name} ended with exit code {done.returncode}")
    return json.loads(done.stdout)


def row(script, report):
    """One line of the table, and the refusals under it."""
    programs, memory = report["programs"], report["memory"]
    accepted = [program for program in programs if program["accepted"]]
    fits = {True: "fits", False: "does not fit", None: "unknown"}[memory["fits"]]
    verdict = fits if report["error"] is None else f"{fits}; the script failed: {report['error']}"
    cells = [
        f"`{' '.join(script)}`",
        f"{report['topology']} ({report['device']['kind']})",
        len(programs),
        len(accepted),
        f"{max((program['flops'] or 0 for program in accepted), default=0):.3g}",
        f"{memory['peak'] / MIB:.1f}",
        f"{memory['limit'] / MIB:.0f}",
        ", ".join(op["name"] for op in report["host_ops"]) or "none",
        verdict,
    ]
    refused = [
        f"- {report['topology']}, {program['name'][:100]}: {' '.join(program['reason'].split())[:300]}"
        for program in programs
        if not program["accepted"]
    ]
    return "| " + " | ".join(map(str, cells)) + " |", refused


def main():
    compiler = Path(sys.argv[1]).resolve()
    metadata = next(compiler.parent.parent.glob("libtpu-*.dist-info"), None)
    version = metadata.name.removesuffix(".dist-info").replace("-", " ") if metadata else compiler.name
    rows, refusals, is_fine = [], [], True
    for script in SCRIPTS:
        for name in TOPOLOGIES:
            report = check(script, name, str(compiler))
            line, refused = row(script, report)
            print(line)
            rows.append(line)
            refusals += refused
            is_fine &= report["ok"]
    text = HEAD.format(compiler=version) + "\n".join(rows) + "\n"
    if refusals:
        text += "\nRefused:\n\n" + "\n".join(refusals) + "\n"
    (ROOT / "docs/tpu_check.md").write_text(text)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
