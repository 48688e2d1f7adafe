"""Runs tests in child processes and survives what they do."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

START_SECONDS = 300  # importing torch and its databases is work of some seconds


class Child:
    """One process in a setting, started when it is needed."""

    def __init__(self, variables, seconds):
        self.variables = variables
        self.seconds = seconds  # of work, that a sample may take
        self.process = None

    def run(self, test):
        """The result of a test: what the child says, or that it crashed or hung."""
        if self.process is None:
            self._start()
        where = "before the first sample"
        try:
            self.process.stdin.write(json.dumps(test).encode() + b"\n")
            self.process.stdin.flush()
            while (line := self._line(self.seconds)) is not None:
                if line.startswith("{"):
                    result = json.loads(line)
                    if result.pop("leaves"):
                        self.stop()
                    return result
                _, index, device = line.split()
                where = f"in sample {index} on {device}"
        except BrokenPipeError:
            pass
        except TimeoutError:
            self.stop()
            return {"timeout": f"no answer within {self.seconds} s {where}"}
        return {"crash": f"{self._ending()} {where}", "output": self._last_words()}

    def stop(self):
        """Ends the process and whatever it started."""
        if self.process is None:
            return
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._close()

    def _start(self):
        ours, theirs = os.pipe()
        self.pipe, self.rest = ours, b""
        self.errors = tempfile.TemporaryFile()
        path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sweep.child", str(theirs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            pass_fds=(theirs,),
            env=os.environ | {"PYTHONPATH": path} | self.variables,
            start_new_session=True,  # a group of its own
        )
        os.close(theirs)
        self.selector = selectors.DefaultSelector()
        self.selector.register(ours, selectors.EVENT_READ)
        if self._line(START_SECONDS) != "ready":
            raise RuntimeError(f"the child did not start: {self._ending()}\n{self._last_words(2000)}")

    def _line(self, seconds):
        """The next line, or None at the end; TimeoutError when it takes too long.

        A busy machine may give the child little: it has `seconds` of its own work, and three times that to wait.
        """
        end, worked = time.monotonic() + 3 * seconds, self._worked()
        while b"\n" not in self.rest:
            if not self.selector.select(min(1, seconds)):
                if time.monotonic() > end or self._worked() > worked + seconds:
                    raise TimeoutError
                continue
            piece = os.read(self.pipe, 65536)
            if not piece:
                return None
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def _worked(self):
        """Seconds of processor time that the child used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _ending(self):
        code = self.process.wait()
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def _last_words(self, length=600):
        """The end of its standard error, from where faulthandler began to write."""
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 20_000))
        words = self.errors.read().decode(errors="replace")
        self._close()
        found = words.rfind("Fatal Python error")
        return words[found:][:length] if found >= 0 else words[-length:]

    def _close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.selector.close()
        os.close(self.pipe)
        self.errors.close()
        self.process = None
