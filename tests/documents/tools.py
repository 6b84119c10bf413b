# SPDX-License-Identifier: MIT OR Apache-2.0
"""Provides the commands that a reader has after an installation: record, cc, librecord.pc, mpirun."""
import os
import re
import shutil
import subprocess
import sys

_missing = {}  # a word of a step's script: why such a step cannot run here


def make(srcdir, builddir, scratch):
    """Puts the commands first in PATH, and sets the other variables."""
    programs = os.path.join(scratch, "bin")
    os.mkdir(programs)
    os.mkdir(os.path.join(scratch, "home"))
    shared = os.path.exists(f"{builddir}/.libs/librecord.so")
    mpirun = shutil.which(os.environ.get("MPIRUN") or "mpirun")
    _program(programs, "record", _record(os.environ["RECORD"], srcdir, builddir, scratch))
    _program(programs, "record-mpi", f'exec "{builddir}/mpi/record-mpi" "$@"')
    _program(programs, "cc", _compiler(os.environ.get("CC") or "cc"))
    _program(programs, "c++", _compiler(os.environ.get("CXX") or "c++"))
    # Two ranks instead of sixteen.
    _program(programs, "mpirun", f'shift 2\nexec "{mpirun}" -n 2 "$@"')
    _package(srcdir, builddir, scratch, shared)
    os.environ.update(
        HOME=f"{scratch}/home", PKG_CONFIG_PATH=scratch, PATH=programs + ":" + os.environ["PATH"],
        MPI_CFLAGS=os.environ.get("MPI_CFLAGS", ""))
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # a document's make is not part of the one that runs this test
        os.environ.pop(name, None)
    if not shared:
        for word in ("-shared", "plugindir", "LIBRECORD_PLUGIN_PATH"):
            _missing[word] = "this build has no shared library, so it opens no plugins"
    if "without ncurses" in _run(os.environ["RECORD"], "browse", "/dev/null").stderr:
        _missing["record browse"] = "record was built without ncurses"
    if not _ranks_start(builddir, mpirun):
        _missing["record-mpi"] = _missing["librecord/mpi.h"] = "no MPI"


def _record(record, srcdir, builddir, scratch):
    """Returns a script that runs `record` with the build's plugins; `record browse` on a terminal, where it types q."""
    browser = f'"{sys.executable}" "{srcdir}/tests/cli/terminal.py" "{scratch}" 80x24 =screen q "~" -- "{record}"'
    return f"""plugins="{builddir}/plugins/.libs"
case ":$LIBRECORD_PLUGIN_PATH:" in
*":$plugins:"*) ;;
*) export LIBRECORD_PLUGIN_PATH="${{LIBRECORD_PLUGIN_PATH:+$LIBRECORD_PLUGIN_PATH:}}$plugins" ;;
esac
case "$1 $*" in
*--json*) ;;
browse*)
    TERM=xterm-256color {browser} "$@"
    cat "{scratch}/screen"
    exec grep "^exit 0" "{scratch}/end"
    ;;
esac
exec "{record}" "$@\""""


def _compiler(command):
    """Returns a script that compiles with all warnings and the build's sanitizers. The compiler may be a script itself
    that looks for its name in PATH (ccache), where it must not find this one."""
    path = f'PATH="{os.environ["PATH"]}"\nexport PATH\n'
    program, *options = command.split()
    command = f'{shutil.which(program)} {" ".join(options)} -Wall -Wextra -Werror'
    sanitizers = os.environ.get("SANITIZERS")
    if not sanitizers:
        return path + f'exec {command} "$@"'
    # Clang links the run time of the sanitizers only to programs.
    return path + f"""case " $* " in
*" -shared "*) exec {command} -fsanitize={sanitizers} "$@" -Wl,-z,undefs ;;
esac
exec {command} -fsanitize={sanitizers} "$@\""""


def _package(srcdir, builddir, scratch, shared):
    """Writes librecord.pc with the directories of the build."""
    with open(f"{builddir}/librecord.pc", encoding="utf-8") as file:
        text = file.read()
    libraries = "" if shared else " " + re.search(r"^Libs.private:(.*)$", text, re.MULTILINE)[1]
    for key, value in (("libdir=", f"{builddir}/.libs"), ("includedir=", f"{srcdir}/include"),
                       ("Libs: ", f"-L${{libdir}} -Wl,-rpath,${{libdir}} -lrecord{libraries}")):
        text = re.sub(f"(?m)^{key}.*$", lambda found, key=key, value=value: key + value, text)
    with open(f"{scratch}/librecord.pc", "w", encoding="utf-8") as file:
        file.write(text)


def _ranks_start(builddir, mpirun):
    """Returns whether mpirun starts two ranks. Open MPI must be told to run as root and on few processors."""
    os.environ.update(
        OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_plm_rsh_agent="",
        PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
    program = f"{builddir}/mpi/record-mpi"
    return bool(mpirun) and os.path.exists(program) and _run(mpirun, "-n", "2", program, "--version").returncode == 0


def _run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def missing(step):
    """Returns why a step cannot run here, or an empty string."""
    return next((why for word, why in _missing.items() if word in step.script + step.source), "")


def _program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
