# SPDX-License-Identifier: MIT OR Apache-2.0
"""Each module of burn::nn that has parameters, in a small model of its own."""
