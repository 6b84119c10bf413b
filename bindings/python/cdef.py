# SPDX-License-Identifier: MIT OR Apache-2.0
"""Generates librecord/_ffi.py, cffi's description of the library, from librecord.h and the headers that it includes.

    python3 cdef.py LIBRECORD_H _FFI_PY

The header is the only source of declarations. A compiler is not needed: everything but the preprocessor's lines is plain C.
"""
import os
import re
import sys

from cffi import FFI


def declarations(header):
    """Returns the header's declarations without comments, preprocessor lines, function bodies and attributes."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"#ifndef REC_NO_SHORT_NAMES\n.*?#endif", "", text, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif", "", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    text = re.sub(r"static inline [^{;]*\{.*?\n\}", "", text, flags=re.S)
    return re.sub(r"\bREC_API\b", "", text)


def read_headers(path):
    """Returns the text of a header with that of librecord's other headers, which it includes at its end."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    included = re.findall(r"^#include <(librecord/\w+\.h)>", text, flags=re.M)
    return text + "".join(read_headers(os.path.join(os.path.dirname(path), name)) for name in included)


def generate(header_path, target):
    builder = FFI()
    builder.cdef(declarations(read_headers(header_path)))
    builder.set_source("_ffi", None)
    builder.emit_python_code(target)


if __name__ == "__main__":
    generate(sys.argv[1], sys.argv[2])
