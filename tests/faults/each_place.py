#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Commands of `record`, one on each line of standard input, among the files of a folder; what they write is named out*. Each is run as
it is, then once for each place that asks for memory, or the system for something, and was not met by a command before it: that call
fails (fail_place.c). Then the command ends as if nothing had been, with the same output and files, or with a status of an error, a
message, and nothing written that was not whole. Behind a ~ stand those that tell less, and do the same, where the system does. At most --each places of a command, evenly drawn. TAP, one line for a command."""
import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys


# How long it took is another each time.
SECONDS = re.compile(rb'( in |"seconds": )[0-9.e-]+')
# The C library's own end where a thread's memory is asked for at the first touch of it.
NOT_OURS = "cannot allocate memory for thread-local data: ABORT"


class Bench:
    def __init__(self, args):
        self.args = args
        self.seen = set()
        self.count = 0
        self.failed = 0

    def run(self, words, folder, **env):
        preload = {"LD_PRELOAD": self.args.preload} if env else {}
        try:
            done = subprocess.run([self.args.record, *words], cwd=folder, env=dict(os.environ, **preload, **env),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        except subprocess.TimeoutExpired:
            return None, b"", b""
        return done.returncode, SECONDS.sub(rb"\1T", done.stdout), done.stderr

    def fresh(self, number):
        """A folder with links to the inputs and nothing else; what is edited in place is a copy."""
        folder = os.path.join(self.args.work, f"run{number}")
        os.mkdir(folder)
        for name in os.listdir(self.args.inputs):
            source = os.path.join(self.args.inputs, name)
            if os.path.isdir(source):
                shutil.copytree(source, os.path.join(folder, name))
            elif name.startswith("out"):
                shutil.copy2(source, os.path.join(folder, name))
            else:
                os.link(source, os.path.join(folder, name))
        return folder

    def written(self, folder):
        """What is in it now and was not, or is another: bytes by name."""
        found = {}
        for top, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(top, name)
                before = os.path.join(self.args.inputs, os.path.relpath(path, folder))
                with open(path, "rb") as file:
                    data = file.read()
                if not os.path.exists(before) or open(before, "rb").read() != data:
                    found[os.path.relpath(path, folder)] = data
        return found

    def one(self, words, place, expected, number):
        """@return why it is wrong, or None, and whether the fault was refused."""
        folder = self.fresh(number)
        try:
            status, out, err = self.run(words, folder, FAULT_CALL=place[0])
            files = self.written(folder)
        finally:
            shutil.rmtree(folder)
        text = err.decode(errors="replace")
        said = f"{place[2]} {place[0]}: status {status}, {text.strip()!r}"
        if status is None:
            return said + ": it stands still", False
        if NOT_OURS in text and all(name.endswith("-tmp") or data == expected[3].get(name) for name, data in files.items()):
            return None, True
        if status < 0 or status > 3:
            return said, False
        if any(name.endswith("tmp") for name in files):
            return f"{said}: left {sorted(files)}", False
        if status == expected[0]:
            if files != expected[3] or (out != expected[1] and not self.told_less):
                return f"{said}: other than without the fault: {sorted(files)} {out[:300]}", False
            return None, False
        if status == 3 and self.args.memory:
            return said, False
        text += out.decode(errors="replace") if b" failed" in out else ""  # a table of files tells of each
        if not text.startswith("record: ") and " failed" not in text:
            return said + ": no message", True
        if self.args.memory and "memory" not in text:
            return said + ": memory is not what it tells of", True
        wrong = [name for name, data in files.items() if data != expected[3].get(name)]
        return (f"{said}: {wrong} are not whole" if wrong else None), True

    def command(self, line):
        self.told_less = line.startswith("~ ") and not self.args.memory
        words = shlex.split(line.removeprefix("~ "))
        places = os.path.join(self.args.work, "places")
        folder = self.fresh("")
        expected = self.run(words, folder)
        expected += (self.written(folder),)
        shutil.rmtree(folder)
        folder = self.fresh("")
        listed = self.run(words, folder, FAULT_PLACES=places)
        shutil.rmtree(folder)
        new = []
        with open(places, encoding="ascii") as file:
            for place in (entry.split() for entry in file):
                if place[1] not in self.seen:
                    self.seen.add(place[1])
                    new.append(place)
        step = max(1, -(-len(new) // self.args.each)) if self.args.each else 1
        chosen = new[::step]
        if expected[0] not in (0, 1):
            print(f"not ok {self.count + 1} - {line}: status {expected[0]}: {expected[2].decode(errors='replace')}")
            self.count += 1
            self.failed += 1
            return
        bad = [] if listed[0] == expected[0] and listed[1] == expected[1] else ["it is other where places are listed"]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            found = list(pool.map(lambda pair: self.one(words, pair[1], expected, pair[0]), enumerate(chosen)))
        bad += [why for why, _ in found if why]
        refused = sum(1 for why, told in found if told and not why)
        self.count += 1
        self.failed += bool(bad)
        print(f"{'not ok' if bad else 'ok'} {self.count} - {line}: {len(chosen)} of {len(new)} places, {refused} refused", flush=True)
        for why in bad:
            print("#   " + why, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--preload", required=True)
    parser.add_argument("--inputs", required=True, help="a folder of files")
    parser.add_argument("--work", required=True, help="a folder for runs, of the same file system")
    parser.add_argument("--memory", action="store_true", help="what fails is memory, and is told of as such")
    parser.add_argument("--each", type=int, default=0, help="places of a command (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    bench = Bench(parser.parse_args())
    for line in sys.stdin:
        if line.strip() and not line.startswith("#"):
            bench.command(line.strip())
    print(f"1..{bench.count}")
    sys.exit(bench.failed != 0)


main()
