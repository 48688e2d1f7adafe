"""JAX as one more contestant: jax_peer.py in a process of its own that waits while others run."""

import subprocess
from pathlib import Path


class JaxProcess:
    """`name`: a model or an op of jax_peer.py. `python`: an interpreter with what requirements-jax.txt lists."""

    def __init__(self, name, python):
        command = [python, Path(__file__).with_name("jax_peer.py"), name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first = float(self.answer().split()[1])  # seconds of the first time from a cold start, compile and all

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"jax_peer.py ended with exit code {self.process.wait()}")
        return line

    def run(self, times):
        """Seconds each."""
        self.process.stdin.write(f"run {times}\n")
        self.process.stdin.flush()
        return float(self.answer()) / 1e3

    def close(self):
        self.process.stdin.close()
        self.process.wait()
