"""The live line while programs are compiled, Note [Live line]: what a terminal shows, tested with a pseudo terminal."""

import os
import pty
import re
import subprocess
import sys
import termios
import textwrap

import pytest

ROWS, COLUMNS = 6, 60

# Ops in no order that repeats itself, as one program: it takes seconds to compile.
LONG = """
    import random, sys, torch
    torch.ones(2, device="tpu").cpu()
    def work():
        order = random.Random(0)
        with torch.tpu.mode("fused"):
            x = torch.ones(8, 8, device="tpu")
            for _ in range(700):
                x = getattr(torch, order.choice(["sin", "cos", "tanh", "erf", "sigmoid", "exp2", "log1p"]))(x).cumsum(0)
            return x.sum().item()
"""
# Many programs, each of some 20 ms.
MANY = """
    import sys, torch
    def work():
        with torch.tpu.mode("strict"):
            for size in range(1, 80):
                torch.ones(size, device="tpu").cumsum(0)
"""
END = """
    print("before", end="", file=sys.stderr, flush=True)
    work()
    print(" and after", file=sys.stderr, flush=True)
"""


class Screen:
    """A terminal: what its screen shows after the bytes that it was sent. Unknown control sequences are errors."""

    TOKEN = re.compile(r"\x1b\[\??([0-9;]*)([A-Za-z])|\x1b([78DM])|([\r\n\b])|([^\x1b\r\n\b])")

    def __init__(self):
        self.rows, self.row, self.column, self.kept = [""] * ROWS, 0, 0, (0, 0)

    def feed(self, text):
        position = 0
        while position < len(text):
            found = self.TOKEN.match(text, position)
            assert found, text[position : position + 20]
            position = found.end()
            self.act(*found.groups())

    def act(self, number, sequence, escape, control, letter):
        if letter:
            if self.column == COLUMNS:
                self.down()
                self.column = 0
            row = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = row[: self.column] + letter + row[self.column + 1 :]
            self.column += 1
        elif control == "\r":
            self.column = 0
        elif control == "\n" or escape == "D":
            self.down()
        elif escape == "7":
            self.kept = (self.row, self.column)
        elif escape == "8":
            self.row, self.column = self.kept
        elif sequence == "A":
            self.row = max(self.row - int(number or 1), 0)
        elif sequence == "B":
            self.row = min(self.row + int(number or 1), ROWS - 1)
        elif sequence == "K":
            self.rows[self.row] = "" if number == "2" else self.rows[self.row][: self.column]
        elif sequence == "J":
            assert not number
            self.rows[self.row] = self.rows[self.row][: self.column]
            self.rows[self.row + 1 :] = [""] * (ROWS - self.row - 1)
        elif sequence in ("m", "h", "l"):  # colours, and whether the cursor is seen
            pass
        else:
            raise AssertionError((number, sequence, escape, control))

    def down(self):
        if self.row == ROWS - 1:
            self.rows = [*self.rows[1:], ""]
        else:
            self.row += 1

    def lines(self):
        return [row.rstrip() for row in self.rows]


def on_a_terminal(code, **environment):
    """The bytes that a script writes to a terminal, and the screen after each piece of them."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    env = dict(os.environ, TORCH_TPU_CACHE_DIR="off", TERM="xterm", TORCH_TPU_CPU_DEVICES="1") | environment
    if "LOCAL_RANK" not in environment:
        env.pop("LOCAL_RANK", None)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    written, screen, seen = "", Screen(), []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        written += piece.decode()
        screen.feed(piece.decode())
        seen.append(screen.lines())
    os.close(ours)
    assert process.wait(timeout=60) == 0, written
    return written, seen


@pytest.mark.parametrize("code", [LONG, MANY])
def test_a_line_comes_and_goes(code):
    written, seen = on_a_terminal(code + END)
    shown = [lines for lines in seen if any("torch_tpu: compiling (" in line for line in lines)]
    assert shown, written
    for lines in shown:
        at = lines.index("before")
        assert re.match(r"torch_tpu: compiling \(\d+ programs?, \d+\.\d s\): [a-z_0-9]+", lines[at + 1])
        assert len(lines[at + 1]) < COLUMNS
    assert all(float(seconds) >= 1 for seconds in re.findall(r"compiling \(\d+ programs?, ([0-9.]+) s\)", written))
    assert seen[-1] == ["before and after", *[""] * (ROWS - 1)]
    if code == MANY:
        assert re.search(r"compiling \([2-9]\d+ programs", written)


@pytest.mark.slow
def test_at_the_last_row_and_behind_a_full_one():
    fill = f'print("\\n" * {ROWS} + "x" * {COLUMNS}, end="", file=sys.stderr, flush=True)'
    written, seen = on_a_terminal(LONG + f"\n    {fill}\n    work()\n    print('.', file=sys.stderr)")
    assert "torch_tpu: compiling (" in written
    assert seen[-1][-3:] == ["x" * COLUMNS, ".", ""]


@pytest.mark.parametrize(
    "environment",
    [
        {"TORCH_TPU_PROGRESS": "0"},
        pytest.param({"TERM": "dumb"}, marks=pytest.mark.slow),
        pytest.param({"LOCAL_RANK": "1"}, marks=pytest.mark.slow),
    ],
)
def test_it_can_be_switched_off(environment):
    written, _ = on_a_terminal(MANY + END, **environment)
    assert written == "before and after\r\n"


def test_nothing_is_written_to_a_pipe(python):
    out, err = python(MANY + END, TORCH_TPU_CACHE_DIR="off", TERM="xterm")
    assert (out, err) == ("", "before and after")


def test_a_progress_bar_stays_whole():
    bar = """
    from rich.console import Console
    from rich.progress import Progress
    with Progress(console=Console(file=sys.stderr), refresh_per_second=5) as progress:
        task = progress.add_task("steps", total=2)
        for _ in range(2):
            progress.advance(task)
            work()
            print("a line of the log", file=sys.stderr)
    """
    written, seen = on_a_terminal(LONG + bar)
    shown = [lines for lines in seen if any("torch_tpu: compiling (" in line for line in lines)]
    assert shown and all(any(line.startswith("steps ") for line in lines) for lines in shown)
    assert not any("torch_tpu" in line for line in seen[-1])
    assert seen[-1].count("a line of the log") == 2
    assert sum(line.startswith("steps ") for line in seen[-1]) == 1
