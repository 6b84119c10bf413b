# SPDX-License-Identifier: MIT OR Apache-2.0
"""`python -m librecord ls model.mpk` is the command `record ls model.mpk`."""
from ._command import main

main()
