/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: the plugins that are there. Included by librecord.h. */

/**
 * @file librecord/registry.h
 *
 * Lists plugins with their options, and sets where plugins and librecord's data are found.
 */
#ifndef LIBRECORD_REGISTRY_H
#define LIBRECORD_REGISTRY_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------ plugins -- */

enum {
    REC_OPTION_BOOL = 1,
    REC_OPTION_INT = 2,
    REC_OPTION_FLOAT = 3,
    REC_OPTION_CHOICE = 4,
    REC_OPTION_TEXT = 5,
    REC_OPTION_SIZE = 6 /**< bytes, or a whole number of KiB, MiB or GiB: "64 MiB" */
};
/** An option of a recorder; the library checks values against it. INI files and the command line use its name. */
typedef struct rec_option {
    uint32_t size;              /**< sizeof(rec_option) */
    int32_t type;               /**< REC_OPTION_… */
    const char *name;           /**< required: 1 to 64 of a-z, 0-9, _ and - */
    const char *initial;        /**< required: the default, as text; "" only for a TEXT */
    const char *help;           /**< required: one line of text */
    int64_t minimum, maximum;   /**< of an INT or a SIZE, both inclusive: 0 and 0 allow only 0 */
    const char *const *choices; /**< of a CHOICE: the values, NULL-terminated */
    double low, high;           /**< of a FLOAT, both inclusive; 0 and 0: any number */
    /** Deprecated names, NULL-terminated, or NULL. They are accepted, with a note that names the new one. */
    const char *const *old_names;
} rec_option;

/** The kind of a plugin. Unknown kinds are rejected. */
enum {
    REC_PLUGIN_FORMAT = 0, /**< a recorder */
    REC_PLUGIN_CODEC = 1,  /**< compression or encryption, for any format */
    REC_PLUGIN_STACK = 2,  /**< a recorder: a named combination of a format and a codec */
    REC_PLUGIN_SOURCE = 3, /**< opens paths with a scheme */
    REC_PLUGIN_SCHEME = 4  /**< decodes quantised tensors to numbers */
};

/** A plugin in the registry. Strings live as long as the context. */
typedef struct rec_plugin_info {
    uint32_t size;           /**< sizeof(rec_plugin_info) of the library */
    int32_t usable;          /**< 1, or 0 with the reason in `refused` */
    const char *name;        /**< "NamedMpk"; for a file that could not be opened its base name */
    const char *aliases;     /**< separated by ", " */
    const char *extension;   /**< "mpk", without dot; "" for memory only */
    const char *description; /**< one line */
    const char *file;        /**< the shared object, "built in" or "the program" (rec_context_add_plugin) */
    const char *refused;     /**< "" or the reason */
    const char *options;     /**< a line "name (type, default): help" each, "" without options */
    const char *adapter;     /**< the module layout of its files: "burn", "pytorch", "either" if it is detected,
                                "foreign", or the name of a profile. A file may override it */
    /* For a rejected plugin numbers are 0 and strings "". */
    int32_t kind;     /**< REC_PLUGIN_… */
    int32_t can_load; /**< 1 or 0, like the following; for a codec decoding, for a source opening */
    int32_t can_save;
    int32_t needs_type;     /**< reading needs a type */
    int32_t has_names;      /**< its data contain field names; otherwise a type supplies them */
    int32_t reads_folders;  /**< it loads directories */
    const char *version;    /**< of the plugin, "" if unknown */
    const char *license;    /**< SPDX expression, "" if unknown */
    const char *extensions; /**< all recognised ones, `extension` first: "pt, pth"; "" for memory only */
    uint64_t option_count;
    const rec_option *const *option_list; /**< `option_count` of them, with type, default and bounds */
    const char *hidden;                   /**< "", or lines that list the plugins used instead, and for what */
    int32_t burn_first;                   /**< the first version of Burn with this format, 0.N as N; 0: 0.7 to 0.21 */
    int32_t burn_last;                    /**< the last one; 0 with a `burn_first`: no upper limit */
    const char *schemes;                  /**< of a source: "https, http"; else "" */
    const char *format;                   /**< of a stack: its format and codec; else "" */
    const char *codec;
} rec_plugin_info;

/** Opens all plugins. @return the number of plugins and rejected files. */
REC_API uint64_t rec_plugin_count(rec_context *context);
/** @return plugin `index`, or NULL. A NULL `context`, here and in rec_plugin_count(), is the default one. */
REC_API const rec_plugin_info *rec_plugin_get(rec_context *context, uint64_t index);
/** Finds the plugin with a name or alias, as in rec_open_recorder() (without recorders of the INI file), including
 * codecs and sources. Opens only the files it needs, and leaves `hidden` empty. @return NULL with the error if there
 * is no such plugin. */
REC_API const rec_plugin_info *rec_plugin_find(rec_context *context, const char *name);
/** Finds the plugin that saves to a path, by its extension; otherwise like rec_plugin_find(). */
REC_API const rec_plugin_info *rec_plugin_for_path(rec_context *context, const char *path);

/** The plugin directories of a context. */
enum {
    REC_PLUGINS_ALL = 0,       /**< LIBRECORD_PLUGIN_PATH, the INI file's plugin_path, the installed directory */
    REC_PLUGINS_INSTALLED = 1, /**< only the installed directory */
    REC_PLUGINS_NONE = 2       /**< no directory: only plugins linked into the program */
};
/** Selects the plugin directories of a context (NULL: the default one). LIBRECORD_PLUGINS=all|installed|none in the
 * environment can only restrict it. */
REC_API rec_status rec_context_set_plugins(rec_context *context, int32_t which);
/** Enables or disables paths with a scheme (https://host/model.safetensors), which source plugins open (NULL: in the
 * default context). @param yes 1 or 0; the default is the INI file's `sources`, else 1, in a setuid program 0. */
REC_API rec_status rec_context_set_sources(rec_context *context, int32_t yes);
/** Sets the directory with Burn's types and the profiles (`modules/`, `profiles/`) instead of LIBRECORD_DATA or the
 * installed one, before a context (NULL: the default one) is used. @param folder absolute, copied; NULL: as before. */
REC_API rec_status rec_context_set_data(rec_context *context, const char *folder);
/** Adds an absolute directory before the others of a context (NULL: the default one). Plugins are opened at the next
 * lookup. */
REC_API rec_status rec_context_add_plugin_path(rec_context *context, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
