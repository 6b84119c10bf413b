# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the package with the library and the command inside; pyproject.toml has the rest."""
import atexit
import shutil
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


class BuildLibrary(build_py):
    """Adds the description of the library for cffi, the library and the command."""

    def run(self):
        import cdef
        import library

        super().run()
        package = Path(self.build_lib) / "librecord"
        cdef.generate(library.ROOT / "include/librecord.h", package / "_ffi.py")
        library.build(package / "_lib", Path(self.get_finalized_command("build").build_temp) / "library")


class OneWheel(bdist_wheel):
    """A wheel for every Python of the platform: cffi's ABI mode has no part that depends on Python's version."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


# Nothing is written into the checkout.
scratch = tempfile.mkdtemp()
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
setup(
    cmdclass={"build_py": BuildLibrary, "bdist_wheel": OneWheel},
    distclass=WithLibrary,
    options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}},
)
