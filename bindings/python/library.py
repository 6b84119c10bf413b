# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compiles the library and the command for the package, by the lists of scripts/sources.

    CC      the compiler, default: cc
    CFLAGS  its flags, default: -O2 -fstack-protector-strong
    LIBRECORD_STATIC=yes    links the libraries of the system from their archives, for a wheel that needs none of them
"""
import os
import shlex
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SONAME = "librecord.so.0"
STATIC = os.environ.get("LIBRECORD_STATIC") == "yes"
#: Options of scripts/sources, and the library in pkg-config that each of them needs.
OPTIONS = {"zstd": "libzstd", "isal": "libisal"}


def run(command, **arguments):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **arguments)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))[:2000]}\n{done.stdout[-8000:]}")
    return done.stdout


def pkg_config(what, *modules):
    return shlex.split(run(["pkg-config", what, *modules])) if modules else []


def there(module):
    if subprocess.run(["pkg-config", "--exists", module], check=False).returncode:
        return False
    return not STATIC or len(archives([module])) == len(pkg_config("--libs-only-l", module))


class Sources:
    """What scripts/sources prints, for the options that the system has the libraries for."""

    def __init__(self, made):
        if not (ROOT / "scripts/sources").exists():
            raise SystemExit(f"{ROOT}: the package is built in a checkout of librecord: pip install bindings/python")
        options = {"-", *(option for option, module in OPTIONS.items() if there(module))}
        lines = [line.split(" ", 3) for line in run([ROOT / "scripts/sources"]).splitlines()]
        self.lines = [(kind, part, value) for kind, part, option, value in lines if option in options]
        run([ROOT / "scripts/sources", "--generate", made])
        self.made = made

    def values(self, kind):
        return [value for each, _, value in self.lines if each == kind]

    def flags(self, part):
        prefix = {"define": "-D", "flag": "", "include": "-I"}
        return [prefix[kind] + value for kind, of, value in self.lines if kind in prefix and of in ("-", part)]

    def files(self):
        """Yields the part and the path of each C file."""
        for kind, part, value in self.lines:
            if kind in ("source", "generated"):
                yield part, (self.made / value if kind == "generated" else ROOT / value)

    def needs(self):
        """Returns the libraries of the system; of msgpack only the headers are used."""
        return sorted({value for value in self.values("needs") if value != "msgpack"})


def archives(modules):
    """Returns the libraries' archives in the place of -l."""
    directories = [word[2:] for word in pkg_config("--keep-system-libs", "--libs-only-L", *modules) if word[:2] == "-L"]
    directories.append(f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}")
    found = []
    for name in pkg_config("--libs-only-l", *modules):
        paths = [Path(directory) / f"lib{name[2:]}.a" for directory in directories]
        found += [str(path) for path in paths if path.exists()][:1]
    return found


def libraries(modules):
    """Returns how to link the libraries of the system."""
    if not STATIC:
        return pkg_config("--libs", *modules)
    found = archives(modules)
    if len(found) != len(pkg_config("--libs-only-l", *modules)):
        raise SystemExit(f"LIBRECORD_STATIC: an archive is missing of: {', '.join(modules)}; found: {', '.join(found)}")
    return found


class Build:
    def __init__(self, work):
        self.work = work
        self.sources = Sources(work / "made")
        self.cc = shlex.split(os.environ.get("CC", "cc"))
        flags = os.environ.get("CFLAGS", "-O2 -fstack-protector-strong")
        self.cflags = [*shlex.split(flags), "-fPIC", *pkg_config("--cflags", *self.sources.needs())]
        self.libraries = [*libraries(self.sources.needs()), *(f"-l{name}" for name in self.sources.values("link"))]

    def compile(self, item):
        part, path = item
        target = self.work / f"{part}-{path.parent.name}-{path.stem}.o"
        run([*self.cc, *self.cflags, *self.sources.flags(part), "-c", "-o", target, path], cwd=ROOT)
        return part, target

    def link(self, output):
        """Links the library from all parts but the command, and the command with the library next to it."""
        output.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(self.compile, self.sources.files()))
        library = output / SONAME
        run([*self.cc, "-shared", "-o", library, *(path for part, path in objects if part != "record"),
             f"-Wl,-soname,{SONAME}", f"-Wl,--version-script={ROOT}/packaging/librecord.map", "-Wl,-z,nodelete",
             "-Wl,-z,relro,-z,now", "-Wl,-Bsymbolic", "-Wl,-s", *self.libraries])
        command = ("record", *self.sources.values("uses"))
        run([*self.cc, "-o", output / "record", *(path for part, path in objects if part in command), library,
             "-Wl,-rpath,$ORIGIN", "-Wl,-z,relro,-z,now", "-Wl,-s", *self.libraries])


def build(output, work):
    Build(Path(work).resolve()).link(Path(output).resolve())
