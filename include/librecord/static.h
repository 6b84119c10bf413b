/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * librecord/static.h: which plugins a program has that is linked with a static librecord (configured with
 * --disable-shared). Without it, it has all of them. For C99, C11 and C++.
 *
 * In ONE source file of the program:
 *
 *     #include <librecord/static.h>
 *
 *     #define PLUGINS(P) P(mpk) P(safetensors)
 *     REC_STATIC_PLUGINS(PLUGINS);
 *
 * Then the linker leaves the others out, with -Wl,--gc-sections also what only they needed; their recorders are not
 * found by their names. A program for the shared library, which opens plugins from files, must not have this: it would
 * not link.
 */
#ifndef LIBRECORD_STATIC_H
#define LIBRECORD_STATIC_H

#include "librecord/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The plugins of a static library's registry, the first one asked first, after those that the program adds by
 * rec_context_add_plugin(). Each is what REC_PLUGINS of plugin.h exports. Ends with NULL.
 */
extern const rec_plugin *const *const rec_static_plugins[];

#ifdef __cplusplus
}
#endif

#define REC_STATIC_DECLARE_(module) extern const rec_plugin *const module##_LTX_librecord_plugins[];
#define REC_STATIC_ENTRY_(module) module##_LTX_librecord_plugins,

/**
 * Defines that table. `list` is a macro that applies its argument to files of plugins, named without `.so` and with `_`
 * for what C does not allow in names: mpk, mpk_gz, bin, bin_gz, json, json_gz, safetensors, bpk, pt, npz, gguf; gz and
 * zst are codecs. Plugins with a codec in their name need the codec and the format, so mpk_gz needs gz and mpk. A
 * plugin of one's own that is linked with the program, and was made with REC_PLUGINS, is named in the same way.
 */
#define REC_STATIC_PLUGINS(list) \
    list(REC_STATIC_DECLARE_) const rec_plugin *const *const rec_static_plugins[] = {list(REC_STATIC_ENTRY_) NULL}

#endif
