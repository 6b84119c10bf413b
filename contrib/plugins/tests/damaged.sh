#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Truncated and changed copies of the files: see hostile.c. The program has the plugins in it and needs no other ones.
LIBRECORD_PLUGINS=none
export LIBRECORD_PLUGINS
exec tests/hostile "${srcdir:=.}"/tests/files/*.msgpack "$srcdir"/tests/files/*.onnx
