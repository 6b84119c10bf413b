/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The plugins of a static library, all of them: the table that a program has unless it defines one of its own. Nothing
 * else may stand in this file, or that program would get this table too. */
#include "librecord/static.h"

#ifdef LR_HAVE_ZSTD
#define ZSTD(P) P(zst)
#else
#define ZSTD(P)
#endif
#ifdef LR_HAVE_HTTPS
#define HTTPS(P) P(source_https)
#else
#define HTTPS(P)
#endif
#define ALL(P)     \
    P(mpk)         \
    P(mpk_gz)      \
    P(bin)         \
    P(bin_gz)      \
    P(json)        \
    P(json_gz)     \
    P(safetensors) \
    P(gz)          \
    P(bpk)         \
    P(npz) ZSTD(P) P(pt) P(gguf) P(scheme_ggml) P(scheme_fp4) P(scheme_fp8) P(scheme_burn) P(scheme_known) HTTPS(P)

REC_STATIC_PLUGINS(ALL);
