# SPDX-License-Identifier: MIT OR Apache-2.0
"""cdef.py generates this module from librecord.h."""
from typing import Any

ffi: Any
