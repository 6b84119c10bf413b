# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of record(1) for bash: the command knows it.
eval "$(record completion bash)"
