/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plugins that tests of the registry compile into folders of their own, and what a context then has.
 * To be included after cmocka.h. */
#ifndef TESTS_CORE_REGISTRY_H
#define TESTS_CORE_REGISTRY_H

#include "core/registry/registry.h"
#include "tests/scratch.h"

static inline int set_up(void **state)
{
    *state = scratch_new();
    (void)unsetenv("LIBRECORD_PLUGIN_PATH");
    (void)unsetenv("LIBRECORD_PLUGINS");
    return 0;
}

static inline int tear_down(void **state)
{
    scratch_free(*state);
    return 0;
}

/* ---------------------------------------------------------------------------------------------- making plugins -- */

/* Every part can be replaced by a macro. None of librecord's functions is called, so that nothing needs linking. */
static const char made_source[] =
    "#include <librecord/plugin.h>\n"
    "#ifndef ALIASES\n"
    "#define ALIASES 0\n"
    "#endif\n"
    "#ifndef MORE\n"
    "#define MORE\n"
    "#endif\n"
    "#ifndef NAME\n"
    "#define NAME \"Good\"\n"
    "#endif\n"
    "#ifndef BITS\n"
    "#define BITS 0\n"
    "#endif\n"
    "#ifdef CALL\n"
    "int32_t CALL(void);\n"
    "#else\n"
    "#define CALL() 0\n"
    "#endif\n"
    "static int32_t probe(const rec_head *head) { (void)head; return BITS; }\n"
    "static int32_t load(rec_job *j, rec_source *s, const rec_visitor *v, void *u)\n"
    "{ (void)j; (void)s; (void)v; (void)u; return CALL(); }\n"
    "static const rec_option level = {sizeof level, REC_OPTION_INT, \"level\", \"6\",\n"
    "    \"how hard to try\", 1, 9, 0};\n"
    "static const rec_option style = {sizeof style, REC_OPTION_CHOICE, \"style\", \"plain\",\n"
    "    \"how it looks\", 0, 0, (const char *const[]){\"plain\", \"pretty\", 0}};\n"
    "static const rec_option quick = {sizeof quick, REC_OPTION_BOOL, \"quick\", \"no\",\n"
    "    \"in a hurry\", 0, 0, 0};\n"
    "static const rec_option title = {sizeof title, REC_OPTION_TEXT, \"title\", \"\",\n"
    "    \"what stands above\", 0, 0, 0};\n"
    "#ifdef OPTION\n"
    "static const rec_option option = {.size = sizeof option, .help = \"h\", OPTION};\n"
    "#endif\n"
    "#ifdef MARK\n"
    "int setenv(const char *, const char *, int);\n"
    "__attribute__((constructor)) static void mark(void) { setenv(MARK, \"1\", 1); }\n"
    "#endif\n"
    "typedef struct larger { rec_plugin d; uint64_t more[4]; } larger;\n"
    "static const larger one = {{.abi = REC_PLUGIN_ABI, .size = sizeof(rec_plugin),\n"
    "    .name = NAME, .aliases = ALIASES, .description = \"a test\", .load = load,\n"
    "    .probe = probe, MORE}, {1, 2, 3, 4}};\n"
    "#define EXPORT(module, ...) REC_PLUGINS(module, __VA_ARGS__)\n"
    "#ifdef SECOND\n"
    "static const rec_plugin two = {.abi = REC_PLUGIN_ABI, .size = sizeof two,\n"
    "    .name = SECOND, .description = \"another\", .load = load};\n"
    "EXPORT(MODULE, &one.d, &two);\n"
    "#elif defined EMPTY\n"
    "REC_API const rec_plugin *const EMPTY[] = {0};\n"
    "#else\n"
    "EXPORT(MODULE, &one.d);\n"
    "#endif\n";

/* `$CC flags` makes FOLDER/FILE. The module's name is that of the file. */
static inline void make(const char *folder, const char *file, const char *flags)
{
    const char *compiler = getenv("CC"), *top = getenv("top_srcdir");
    char module[64], *command = NULL;
    FILE *pipe;
    (void)snprintf(module, sizeof module, "%.*s", (int)strcspn(file, "."), file);
    for (char *c = module; *c; c++) {
        *c = *c == '-' ? '_' : *c;
    }
    assert_true(asprintf(&command,
                         "%s -std=c11 -w -fPIC -shared -x c '-DMODULE=%s' %s -I'%s/include' -o '%s/%s' - 2>&1",
                         compiler && *compiler ? compiler : "cc", module, flags, top ? top : ".", folder, file) > 0);
    pipe = popen(command, "w");
    assert_non_null(pipe);
    assert_int_equal(fwrite(made_source, 1, sizeof made_source - 1, pipe), sizeof made_source - 1);
    if (pclose(pipe) != 0) {
        fail_msg("failed: %s", command);
    }
    free(command);
}

/* -------------------------------------------------------------------------------------------------- looking at -- */

static inline rec_context *context_new(void)
{
    rec_context *context = rec_context_new(NULL);
    assert_non_null(context);
    return context;
}

/* @return the line of a file, which must be the only one (or line `which` of several). */
static inline const rec_plugin_info *info_of(rec_context *context, const char *file, int which)
{
    uint64_t count = rec_plugin_count(context);
    for (uint64_t i = 0; i < count; i++) {
        const rec_plugin_info *info = rec_plugin_get(context, i);
        assert_non_null(info);
        assert_int_equal(info->size, sizeof *info);
        if (strcmp(info->file, file) == 0 && which-- == 0) {
            return info;
        }
    }
    return NULL;
}

/* @return the file of the plugin of that name, "" if there is none. */
static inline const char *file_of(rec_context *context, const char *name)
{
    rec_job job;
    const lr_plugin *plugin;
    lr_job_begin(&job, context, "open", NULL);
    plugin = lr_registry_find(&job, name);
    (void)lr_job_end(&job);
    return plugin ? plugin->file : "";
}

#endif
