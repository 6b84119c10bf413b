#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Saves over an old file, while the process is killed, calls of the system fail and allocations fail: what is there afterwards
is the old file or the new one, whole, the command says which, and the next save leaves nothing else behind."""
import argparse
import collections
import gzip
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

# What is saved: a name, the file, options of `record convert`.
FORMATS = [
    ("mpk", "x.mpk", []),
    ("half", "x.mpk", ["--precision", "half"]),
    ("mpk.gz", "x.mpk.gz", []),
    ("json", "x.json", []),
    ("safetensors", "x.safetensors", []),
    ("bpk", "x.bpk", []),
    ("npz", "x.npz", []),
    ("pt", "x.pt", []),
    ("mpk.zst", "x.mpk.zst", []),
    ("shards", "x.safetensors", ["--max-shard-size", "30000"]),
]

# Errors that a call may give, as its manual has them; the first is what a quick run tries. EINTR is no failure but a call to do it
# again.
ERRORS = {
    "openat": ["EMFILE", "EACCES", "EINTR"], "open": ["EMFILE"], "creat": ["EMFILE"],
    "read": ["EIO", "EINTR"], "pread64": ["EIO", "EINTR"],
    "write": ["ENOSPC", "EIO", "EINTR"], "writev": ["ENOSPC", "EIO", "EINTR"], "pwrite64": ["ENOSPC", "EIO", "EINTR"],
    "fsync": ["EIO", "EINTR"], "fdatasync": ["EIO"], "sync_file_range": ["EIO"],
    "rename": ["EIO", "ENOSPC"], "renameat": ["EIO", "ENOSPC"], "renameat2": ["EIO", "EINVAL"],
    "unlink": ["EIO"], "unlinkat": ["EIO"],
    # (Not brk: it fails by giving back the old break, which cannot be injected; the C library goes on with an errno as a break.)
    "mmap": ["ENOMEM"], "munmap": ["ENOMEM"], "mremap": ["ENOMEM"], "madvise": ["EAGAIN"],
    "mprotect": ["ENOMEM"],
    "fallocate": ["ENOSPC", "EOPNOTSUPP", "EINTR"], "ftruncate": ["EIO", "EINTR"],
    "close": ["EIO", "EINTR"], "lseek": ["EIO"], "fcntl": ["EMFILE"], "flock": ["EWOULDBLOCK", "ENOLCK"],
    "stat": ["EIO"], "fstat": ["EIO"], "lstat": ["EIO"], "newfstatat": ["EIO", "EACCES"], "statx": ["EIO"], "fstatfs": ["EIO"],
    "access": ["EACCES"], "faccessat": ["EACCES"], "faccessat2": ["EACCES"], "readlink": ["EIO"], "readlinkat": ["EIO"],
    "fchmod": ["EPERM"], "fchown": ["EPERM"],
    "getrandom": ["ENOSYS", "EINTR"], "getdents64": ["EIO"], "clone": ["EAGAIN"], "clone3": ["EAGAIN"],
    "sched_getaffinity": ["EINVAL"], "ioctl": ["ENOTTY"], "sigaction": ["EINVAL"], "rt_sigaction": ["EINVAL"],
}
# A process of which these fail is ended by the C library or the system before it is ours.
NOT_OURS = {"execve", "exit_group", "arch_prctl", "set_tid_address", "rseq", "set_robust_list", "prlimit64"}


# A call: its name, its number among those of that name and thread, whether it comes after the first that is about the file that is
# saved, and whether it is the loader's, before there is any program that could say anything.
Call = collections.namedtuple("Call", "name number ours loading")


class Campaign:
    def __init__(self, args):
        self.args = args
        self.random = random.Random(args.seed)
        self.counts = collections.Counter()
        self.bad = []
        self.env = dict(os.environ, LC_ALL="C")
        self.env.pop("LIBRECORD_CONFIG", None)
        self.folder = os.path.join(args.work, "folder")

    # ------------------------------------------------------------------------------------------------------ helpers

    def record(self, *words, before=(), env=None, **more):
        return subprocess.run([*before, self.args.record, *words], env=env or self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)

    def must(self, *words):
        done = self.record(*words)
        if done.returncode:
            sys.exit(f"record {' '.join(words)}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def make_inputs(self):
        """Two models of the same names, of two kinds of numbers, so that old and new differ everywhere."""
        self.inputs = []
        for which, value in (("old", "1.5"), ("new", "-2.25")):
            path = os.path.join(self.args.work, which + ".mpk")
            words = ["edit", "new"]
            for layer in range(3):
                words += ["set", f"layer{layer}.weight", f"f32[64, 64]={value}", "set", f"layer{layer}.bias", f"f32[64]={value}"]
            self.must(*words, "-o", path)
            self.inputs.append(path)

    def convert(self, which, **more):
        name, out, options = self.format
        return self.record("convert", "-y", *options, self.inputs[which], os.path.join(self.folder, out), **more)

    def state(self):
        """What a reader finds: of one file its bytes, of a set what it loads as. What is compressed may be so by another library,
        where the usual one cannot be opened."""
        name, out, options = self.format
        if name == "shards":
            index = os.path.join(self.folder, out + ".index.json")
            if not os.path.exists(index):
                return None
            done = self.record("ls", "--all", "--sha256", index)
            return done.stdout if done.returncode == 0 else b"it does not load: " + done.stderr
        try:
            with open(os.path.join(self.folder, out), "rb") as file:
                data = file.read()
            return gzip.decompress(data) if name.endswith(".gz") else data
        except FileNotFoundError:
            return None
        except (OSError, EOFError) as error:
            return b"it cannot be inflated: " + str(error).encode()

    def names(self):
        return sorted(os.listdir(self.folder))

    def prepare(self):
        """The states before and after, and what is in the folder then."""
        self.states = []
        for which in (0, 1):
            shutil.rmtree(self.folder, ignore_errors=True)
            os.mkdir(self.folder)
            done = self.convert(which)
            if done.returncode:
                return done.stderr.decode(errors="replace").splitlines()[0]
            self.states.append(self.state())
        self.fresh = os.path.join(self.args.work, "fresh")
        shutil.rmtree(self.fresh, ignore_errors=True)
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)
        self.convert(0)
        shutil.copytree(self.folder, self.fresh)
        self.count_after = len(self.names())
        return None

    def reset(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.fresh, self.folder)

    def complain(self, what, why, done=None):
        said = done.stderr.decode(errors="replace").strip() if done else ""
        line = f"{self.format[0]}: {what}: {why}" + (f" [{done.returncode}: {said}]" if done else "")
        self.bad.append(line)
        print("BAD", line, flush=True)

    def whole(self, what, done=None):
        """Old or new, nothing between."""
        state = self.state()
        if state == self.states[0]:
            return "old"
        if state == self.states[1]:
            return "new"
        self.complain(what, "neither the old file nor the new one is there"
                      + ("" if state is None else f" ({len(state)} bytes: {state[:60]!r})"), done)
        return None

    def swept(self, what):
        """The next save works and leaves nothing but what it saves."""
        done = self.convert(1)
        if done.returncode:
            self.complain(what, "the next save fails", done)
        elif self.state() != self.states[1]:
            self.complain(what, "the next save is not what it should be")
        elif len(self.names()) != self.count_after:
            self.complain(what, f"the next save leaves {self.names()}")

    def failed_well(self, what, done, strays=0):
        """The exit status says which file is there, the message says why."""
        said = done.stderr.decode(errors="replace")
        if done.returncode < 0 or done.returncode > 128:
            self.complain(what, "a crash", done)
            return
        which = self.whole(what, done)
        if done.returncode == 0:
            self.counts["tolerated"] += 1
            good = which == "new"
        elif done.returncode == 2:
            self.counts["refused"] += 1
            good = said.startswith("record: ") and (which == "old" or "saved files are in place" in said)
        elif done.returncode == 3:
            self.counts["saved, not synced or reported"] += 1
            good = which == "new" and ("saved, but cannot sync" in said or "record: standard output: " in said)
        else:
            self.counts["not begun"] += 1  # the loader's own failures
            good = which == "old" and done.returncode in (1, 126, 127) and said
        if which and not good:
            self.complain(what, f"the {which} file is there, which the status does not say", done)
        left = [name for name in self.names() if name.endswith(".librecord-tmp")]
        if len(left) > strays:
            self.complain(what, f"it leaves {left}", done)

    # ----------------------------------------------------------------------------------------------------- campaigns

    def trace(self):
        """The calls of a save in their order."""
        log = os.path.join(self.args.work, "calls")
        self.reset()
        self.convert(1, before=["strace", "-f", "-qq", "-o", log])
        calls, numbers, loading, ours = [], collections.Counter(), True, False
        with open(log, errors="replace") as lines:
            for line in lines:
                match = re.match(r"(\d+) +([a-z_0-9]+)\(", line)
                if not match or match[2] in NOT_OURS:
                    continue
                ours = ours or self.folder in line
                numbers[match[1], match[2]] += 1
                calls.append(Call(match[2], numbers[match[1], match[2]], ours, loading))
                loading = loading and match[2] != "munmap"  # the loader lets its list of libraries go: it is done
        return list(dict.fromkeys(calls))

    def sample(self, things, most):
        if self.args.all or len(things) <= most:
            return things
        return [things[i] for i in sorted(self.random.sample(range(len(things)), most))]

    def inject(self, call, number, what):
        fast = ["--seccomp-bpf"] if what.startswith("error") else []  # where strace sends no signals
        return ["strace", "-f", "-qq", *fast, "-o", "/dev/null", "-e", f"trace={call}", "-e",
                f"inject={call}:{what}:when={number}"]

    def kills(self, calls):
        early = [c for c in calls if not c.ours]
        for call in self.sample(early, 3) + self.sample([c for c in calls if c.ours], 45):
            what = f"killed at {call.name} {call.number}"
            self.reset()
            done = self.convert(1, before=self.inject(call.name, call.number, "signal=KILL"))
            self.counts["killed" if done.returncode in (-9, 137) else "ended before it was killed"] += 1
            self.whole(what)
            self.swept(what)

    def random_kills(self, many):
        begun = time.monotonic()
        self.reset()
        self.convert(1)
        longest = (time.monotonic() - begun) * 1.1
        name, out, options = self.format
        for i in range(many):
            after = self.random.uniform(0, longest)
            self.reset()
            child = subprocess.Popen([self.args.record, "convert", "-y", *options, self.inputs[1],
                                      os.path.join(self.folder, out)], env=self.env, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(after)
            child.send_signal(signal.SIGKILL)
            child.wait()
            self.counts["killed at a random time"] += 1
            self.whole(f"killed after {after * 1000:.1f} ms")
            self.swept(f"killed after {after * 1000:.1f} ms")

    def calls_fail(self, calls):
        faults = [(call.name, call.number, error) for call in calls for error in ERRORS.get(call.name, [])
                  if call.ours or (self.args.all and not call.loading)]
        if not self.args.all:
            first = [f for f in faults if f[2] == ERRORS[f[0]][0]]
            faults = self.sample(first, 70) + self.sample([f for f in faults if f not in first], 15)
        for call, number, error in faults:
            self.reset()
            done = self.convert(1, before=self.inject(call, number, f"error={error}"))
            self.counts["calls"] += 1
            # What cannot be removed stays, for the next save.
            self.failed_well(f"{call} {number} gives {error}", done, strays=10 if call.startswith("unlink") else 0)
            if call.startswith("unlink"):
                self.swept(f"{call} {number} gives {error}")

    def allocations_fail(self):
        count = os.path.join(self.args.work, "count")
        env = dict(self.env, LD_PRELOAD=self.args.preload, FAULT_COUNT=count)
        self.reset()
        self.convert(1, env=env)
        with open(count) as file:
            numbers = list(range(1, int(file.read()) + 1))
        # Many of the last come after the save, where the status must say that it is done.
        for number in self.sample(numbers[:-40], 80) + numbers[-40:]:
            self.reset()
            done = self.convert(1, env=dict(env, FAULT_ALLOCATION=str(number)))
            self.counts["allocations"] += 1
            self.failed_well(f"allocation {number} fails", done)

    def run(self):
        self.make_inputs()
        for self.format in FORMATS:
            if self.args.format and self.format[0] not in self.args.format:
                continue
            why = self.prepare()
            if why:
                print(f"{self.format[0]}: not here: {why}", flush=True)
                continue
            begun = time.monotonic()
            before = self.counts.copy()
            if self.args.strace:
                calls = self.trace()
                self.kills(calls)
                self.calls_fail(calls)
            self.random_kills(40 if self.args.all else 4)
            if self.args.preload:
                self.allocations_fail()
            told = ", ".join(f"{n} {what}" for what, n in (self.counts - before).items())
            print(f"{self.format[0]}: {told} ({time.monotonic() - begun:.0f} s)", flush=True)
        total = ", ".join(f"{n} {what}" for what, n in self.counts.items())
        print(f"faults: {total}; {len(self.bad)} bad")
        return 1 if self.bad or not self.counts else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", required=True, help="the command, itself and no script")
    parser.add_argument("--work", required=True, help="a folder of our own")
    parser.add_argument("--preload", default="", help="the library that lets allocations fail; none: they are left out")
    parser.add_argument("--no-strace", dest="strace", action="store_false", help="no calls are made to fail")
    parser.add_argument("--all", action="store_true", help="every point, not a sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("format", nargs="*", help="formats; none: all")
    args = parser.parse_args()
    unknown = set(args.format) - {f[0] for f in FORMATS}
    if unknown:
        sys.exit(f"no such format: {' '.join(sorted(unknown))}; there are {' '.join(f[0] for f in FORMATS)}")
    sys.exit(Campaign(args).run())


if __name__ == "__main__":
    main()
