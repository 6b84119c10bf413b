/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Features of an x86-64, LR_CPU_HAS(AVX2, "avx2"): the name in the C library, then the name in GCC. The C library's
 * start has asked the processor and keeps the answers. GCC's table asks again in each shared object that uses it, when
 * that is opened, which takes 200 µs in a virtual machine. */
#ifndef LR_COMMON_CPU_H
#define LR_COMMON_CPU_H

#ifdef __x86_64__

#include <stdbool.h>
#include <stdint.h>

/* Headers for several versions of glibc may have this one although the library is older. */
#if defined __GLIBC_PREREQ && __has_include(<sys/platform/x86.h>)
#if __GLIBC_PREREQ(2, 33)
#include <sys/platform/x86.h>
#endif
#endif

/* A compiler for an older glibc may have the headers of a newer one. */
#ifdef CPU_FEATURE_ACTIVE
#if __GLIBC_PREREQ(2, 33)
#define LR_CPU_BY_LIBRARY
#endif
#endif

#ifdef LR_CPU_BY_LIBRARY
/** As x86_cpu_active(), which shifts a one into the sign for bit 31, AVX512VL. */
static inline bool lr_cpu_is_active(unsigned index)
{
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(index / 128);
    return (leaf->active_array[index % 128 / 32] >> index % 32 & 1) != 0;
}
#define LR_CPU_HAS(theirs, gcc) lr_cpu_is_active(x86_cpu_##theirs)
#define LR_CPU_HAS_SHA() LR_CPU_HAS(SHA, "")
#else
#include <cpuid.h>
/** Not every compiler has a name for it. */
static inline bool lr_cpu_has_sha(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}
#define LR_CPU_HAS(theirs, gcc) __builtin_cpu_supports(gcc)
#define LR_CPU_HAS_SHA() lr_cpu_has_sha()
#endif

#endif

#endif
