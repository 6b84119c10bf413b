/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * librecord/static.h: selects the plugins of a program linked with a static librecord (configured with
 * --disable-shared). By default it has all of them. For C99, C11 and C++.
 *
 * In ONE source file of the program:
 *
 *     #include <librecord/static.h>
 *
 *     #define PLUGINS(P) P(mpk) P(safetensors)
 *     REC_STATIC_PLUGINS(PLUGINS);
 *
 * The linker then leaves out the other plugins, and with -Wl,--gc-sections the code that only they need; their
 * recorders are not found. A program for the shared library must not use this header: it would not link. */
#ifndef LIBRECORD_STATIC_H
#define LIBRECORD_STATIC_H

#include "librecord/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The plugins of a static library's registry in search order, after those added with rec_context_add_plugin(). Each
 * entry is a table exported by REC_PLUGINS of plugin.h. Terminated by NULL.
 */
extern const rec_plugin *const *const rec_static_plugins[];

#ifdef __cplusplus
}
#endif

#define REC_STATIC_DECLARE_(module) extern const rec_plugin *const module##_LTX_librecord_plugins[];
#define REC_STATIC_ENTRY_(module) module##_LTX_librecord_plugins,

/**
 * Defines that table. `list` is a macro that applies its argument to plugin files, named without `.so` and with `_`
 * for characters that C names cannot have: mpk, mpk_gz, bin, bin_gz, json, json_gz, safetensors, bpk, pt, npz, gguf;
 * gz and zst are codecs, scheme_ggml (for gguf), scheme_fp4, scheme_fp8 and scheme_known are schemes, source_https
 * opens URLs (not in every build). Plugins named
 * after a codec need the codec and the format, so mpk_gz needs gz and mpk. Your own plugins, made with REC_PLUGINS and
 * linked with the program, are listed in the same way.
 */
#define REC_STATIC_PLUGINS(list) \
    list(REC_STATIC_DECLARE_) const rec_plugin *const *const rec_static_plugins[] = {list(REC_STATIC_ENTRY_) NULL}

#endif
