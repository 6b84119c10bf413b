# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who takes part: the processes that stay and answer, and how their programs are built."""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def cache():
    return os.environ.get("LIBRECORD_INTEROP_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "librecord-interop")


class Failed(Exception):
    """An operation that a process could not do; the process is gone."""


class Answer:
    def __init__(self, words):
        self.seconds, self.cpu, self.peak, self.live = (float(word) for word in words)


class Server:
    """A process that does one operation a line."""

    def __init__(self, command, environment):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env=os.environ | environment)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            words = self.process.stdout.readline().split()
        except BrokenPipeError:
            words = []
        if len(words) != 4:
            self.close()
            self.errors.seek(0)
            said = self.errors.read().strip().splitlines()
            raise Failed(said[-1] if said else f"`{line}` ended with status {self.process.returncode}")
        return Answer(words)

    def cpu(self):
        """Seconds of CPU so far, with those of children it waited for; in hundredths."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        return sum(int(word) for word in words[11:15]) / os.sysconf("SC_CLK_TCK")

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


class Side:
    """A librecord: that which is measured, or the one it is compared with."""

    def __init__(self, name, build, scratch):
        """build: a build tree; None for what is installed."""
        self.name, self.build = name, build and os.path.abspath(build)
        self.folder = os.path.join(scratch, re.sub(r"\W", "_", name))
        os.mkdir(self.folder)
        self.environment = {}
        self.source = os.path.dirname(HERE)
        if build:
            if not os.path.exists(f"{build}/.libs/librecord.so"):
                raise SystemExit(f"bench/run: no librecord.so in {build}/.libs: build first, or give --build")
            with open(f"{build}/Makefile", encoding="utf-8") as file:
                self.source = os.path.realpath(re.search(r"^abs_top_srcdir = (.*)$", file.read(), re.M)[1])
            self.environment = {"LIBRECORD_PLUGIN_PATH": self.plugins(), "LIBRECORD_DATA": f"{self.source}/etc"}
        # the transpose, which the library shows nobody
        inside = [f"{build}/.libs/lib{name}.a" for name in ("remap", "core", "os", "common")] if build else [
            *glob.glob(f"{self.source}/remap/ops/transpose*.c"), f"{self.source}/core/base/cpu.c"]
        inside = [path for path in inside if os.path.exists(path)] # os/ and common/ are younger than some of what is measured
        self.program = self.compile("bench", ["-o", f"{self.folder}/bench", *sorted(glob.glob(f"{HERE}/*.c")), "-lz", "-lpcre2-8",
                                              "-lpthread", "-lm", "-ldl"], inside)
        self.words = {"tiny": f"{self.source}/tests/data/burn/0.21.0/tiny-full.mpk", "record": self.record(),
                      "empty": self.empty(), "reader": self.reader()}

    def plugins(self):
        """A folder of the plugins. Before 0.9.0 an installed one has an index; later versions refuse the option."""
        folder = f"{self.folder}/plugins"
        os.mkdir(folder)
        for plugin in glob.glob(f"{self.build}/plugins/.libs/*.so"):
            shutil.copy2(plugin, folder)
        subprocess.run([f"{self.build}/tools/record", "plugins", "--index", folder], capture_output=True, check=False)
        return folder

    def compile(self, name, arguments, inside=(), errors=None):
        if self.build:
            libraries = f"{self.build}/.libs"
            flags = [f"-I{self.source}/include", f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lrecord"]
        else:
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "librecord"], check=True, capture_output=True,
                                   text=True).stdout.split()
        subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c11", "-D_GNU_SOURCE", "-O2", f"-I{self.source}",
                        *arguments, *flags, *inside], check=True, stderr=errors)
        return f"{self.folder}/{name}"

    def record(self):
        return f"{self.build}/tools/.libs/record" if self.build else shutil.which("record")

    def empty(self):
        """A program that does nothing, as dynamic as `record`."""
        with open(f"{self.folder}/empty.c", "w", encoding="ascii") as file:
            file.write("int main(void) { return 0; }\n")
        subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-o", f"{self.folder}/empty", f"{self.folder}/empty.c"],
                       check=True)
        return f"{self.folder}/empty"

    def reader(self):
        """A folder with the plugin that times the reader of safetensors alone; None where it cannot be built: beside an
        installed librecord, and beside a revision whose codecs have other functions."""
        if not self.build:
            return None
        os.mkdir(f"{self.folder}/reader")
        # what safetensors needs of the codecs and of common/
        archives = ["-Wl,--start-group", *glob.glob(f"{self.build}/.libs/libcodec-*.a"),
                    *glob.glob(f"{self.build}/.libs/libcommon.a"), "-Wl,--end-group"]
        try:
            self.compile("reader/reader.so", ["-shared", "-fPIC", "-fvisibility=hidden", "-o",
                                              f"{self.folder}/reader/reader.so", f"{HERE}/reader/reader.c", "-lm"],
                         archives, subprocess.DEVNULL if self.name == "then" else None)
        except subprocess.CalledProcessError:
            if self.name != "then":
                raise
            print("# the reader of safetensors alone is left out: that revision's codec has other functions")
            return None
        return f"{self.folder}/reader"

    def static_size(self, build):
        """MB of a program with a record in it, linked with the static library of a build tree, stripped."""
        with open(f"{build}/librecord.pc", encoding="utf-8") as file:
            libraries = re.search(r"^Libs.private: (.*)$", file.read(), re.M)[1].split()
        cc = os.environ.get("CC", "cc").split()
        for command in ([f"{build}/tools/record", "embed", self.words["tiny"], "--name", "tiny", "--output", f"{self.folder}/tiny.c"],
                        [*cc, "-O2", "-DSTATIC_LIBRECORD", f"-I{self.folder}", f"-I{self.source}/include", "-Wl,--gc-sections", "-o",
                         f"{self.folder}/static", f"{self.source}/examples/embed_bytes.c", f"{self.folder}/tiny.c",
                         f"-L{build}/.libs", "-lrecord", *libraries], ["strip", f"{self.folder}/static"]):
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                raise Failed((run.stderr.strip() or command[0]).splitlines()[-1])
        return os.path.getsize(f"{self.folder}/static") / 1e6

    def server(self, megabytes, starts_commands=False):
        environment = dict(self.environment)
        if starts_commands and self.build:
            # not the wrapper script that libtool leaves in a build tree
            environment["LD_LIBRARY_PATH"] = f"{self.build}/.libs"
        return Server([self.program, str(megabytes)], environment)


def revision(name):
    """The build tree of a revision, made if it is not in the cache; or such a tree itself."""
    if os.path.isdir(name):
        return name
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], capture_output=True,
                            text=True, check=False).stdout.strip()
    if not commit:
        raise SystemExit(f"bench/run: --against {name}: neither a build tree nor a revision")
    folder = os.path.join(cache(), "against", commit)
    if os.path.exists(f"{folder}/build/.libs/librecord.so") and os.path.exists(f"{folder}/built"):
        return f"{folder}/build"
    print(f"# building {name} ({commit[:12]})", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/build")
    top = os.path.dirname(HERE)
    with open(f"{folder}/log", "w", encoding="utf-8") as log:
        for command in (f"git -C '{top}' archive {commit} | tar -x -C '{folder}'", f"cd '{folder}' && autoreconf -fi",
                        f"cd '{folder}/build' && ../configure -q && make -j2 && touch ../built"):
            if subprocess.run(["sh", "-c", command], stdout=log, stderr=log, check=False).returncode:
                raise SystemExit(f"bench/run: --against {name}: `{command}` failed: {folder}/log")
    return f"{folder}/build"


# --------------------------------------------------------------------------------------------------- those it is beside

RUST = {"burn": ("burn", "Burn 0.21"), "store": ("store", "Burn 0.22"), "crate": ("crate", "the safetensors crate")}
PYTHON = {
    "python": ("python-safetensors", "safetensors", ["safetensors", "numpy"], "Python's safetensors"),
    "torch": ("python-torch-2.8.0", "torch", None, "PyTorch"),  # gigabytes, which nobody gets who did not ask for them
    "gguf": ("python-gguf", "gguf", ["gguf==0.19.0", "numpy"], "Python's gguf and NumPy"),
}


def rust(kind):
    """The command of a bench in Rust, or a sentence that says why there is none."""
    folder, name = RUST[kind]
    if not shutil.which("cargo"):
        return f"cargo is not installed: no comparison with {name}"
    run = subprocess.run([f"{HERE}/{folder}/build"], stdout=subprocess.PIPE, text=True, check=False)
    return f"bench/{folder} does not build: no comparison with {name}" if run.returncode else ([run.stdout.strip()], {})


def python(kind):
    """The same of peer.py with a package: the system's, or from PyPI into the cache."""
    folder, module, packages, name = PYTHON[kind]
    folder = os.path.join(cache(), folder)
    command = [sys.executable, f"{HERE}/peer.py"]
    if packages and not os.path.isdir(folder) and not importlib.util.find_spec(module):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder,
                        *packages], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if os.path.isdir(folder):
        return command, {"PYTHONPATH": folder}
    return (command, {}) if importlib.util.find_spec(module) else f"{name} cannot be had: no comparison with it"


def peer(kind):
    return rust(kind) if kind in RUST else python(kind)
