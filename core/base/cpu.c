/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the processor can do. The C library's start has asked it and keeps the answers. To ask again takes 20 µs a
 * question in a virtual machine, and GCC's own table, __builtin_cpu_supports(), asks ten before main(), whether or not
 * one is looked at. */
#include "core/base/base.h"

#ifdef __x86_64__

#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE
#define HAS(theirs, gcc) x86_cpu_active(x86_cpu_##theirs)
#else
#define HAS(theirs, gcc) __builtin_cpu_supports(gcc)
#endif

bool lr_cpu_has(lr_cpu what)
{
    switch (what) {
    case LR_CPU_AVX2:
        return HAS(AVX2, "avx2");
    case LR_CPU_F16C:
        return HAS(F16C, "f16c");
    case LR_CPU_AVX512F:
        return HAS(AVX512F, "avx512f");
    case LR_CPU_AVX512BW:
        return HAS(AVX512BW, "avx512bw");
    }
    return false;
}

#else

bool lr_cpu_has(lr_cpu what)
{
    (void)what;
    return false;
}

#endif
