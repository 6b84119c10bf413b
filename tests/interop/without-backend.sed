# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes Rust source for Burn 0.22 and later, whose types have no backend, of source for Burn up to 0.21.
s/BatchNorm<B, [0-9]>/BatchNorm/g
s/<B: Backend, /</g
s/<B: Backend>//g
s/<B, /</g
s/::<B>//g
s/<B>//g
s/&B::Device/\&Device/g
