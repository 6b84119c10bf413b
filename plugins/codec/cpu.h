/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What an x86-64 can do, LR_CPU_HAS(AVX2, "avx2"): as the C library calls it, and as GCC does. The C library's start
 * has asked the processor and keeps the answers; GCC's table asks it again in each plugin when that is opened, whether
 * or not it is looked at, which takes 200 µs in a virtual machine. */
#ifndef LR_CPU_H
#define LR_CPU_H

#ifdef __x86_64__
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE
#define LR_CPU_HAS(theirs, gcc) x86_cpu_active(x86_cpu_##theirs)
#else
#define LR_CPU_HAS(theirs, gcc) __builtin_cpu_supports(gcc)
#endif
#endif

#endif
