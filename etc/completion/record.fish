# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of record(1) for fish: the command knows it.
record completion fish | source
