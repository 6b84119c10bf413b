/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The subcommands as a table, and the options that they know. */
#ifndef RECORD_TOOL_H
#define RECORD_TOOL_H

#include "tools/convert/convert.h"

/* ----------------------------------------------------------------------------------------------------- options -- */

/* The subcommands, as bits of a set. */
enum {
    COMMAND_INFO = 1,
    COMMAND_LS = 2,
    COMMAND_SHOW = 4,
    COMMAND_CONVERT = 8,
    COMMAND_PLUGINS = 16,
    COMMAND_HELP = 32,
    COMMAND_TYPES = 64,
    COMMAND_EMBED = 128,
    COMMAND_PLAN = 256,
    COMMAND_PROFILES = 512,
    COMMAND_DIFF = 1 << 10,
    COMMAND_STATS = 1 << 11,
    COMMAND_VERIFY = 1 << 12,
    COMMAND_REPORT = 1 << 13,
    COMMAND_EDIT = 1 << 14,
    COMMAND_BROWSE = 1 << 15,
    COMMAND_COMPLETION = 1 << 16,
    COMMAND_ALL = (1 << 17) - 1,
    /* Those that only read. */
    COMMAND_SANDBOXED = COMMAND_INFO | COMMAND_LS | COMMAND_SHOW | COMMAND_STATS | COMMAND_VERIFY | COMMAND_DIFF |
                        COMMAND_PLAN | COMMAND_TYPES | COMMAND_REPORT
};

typedef struct command {
    const char *name;
    int bit;
    size_t least, most; /* operands */
    const char *operands, *summary;
    const char *more;       /* further lines of the help, or "" */
    const char *shown;      /* names of the options that the help lists, separated by blanks: at most six */
    const char *examples;   /* lines of the help, or "" */
    const tool_option *own; /* its own options; NULL: none */
} command;
/* All of them, in the order of the help; the last one has no name. */
extern const command tool_commands[];
/* @return NULL if unknown. */
const command *tool_command_find(const char *name);

extern const tool_option tool_show_options[];
/* Writes the tensor at `key` to a file of NumPy. @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_show_out(const session *s, const rec_record *record, const char *key, const char *path);

/* Runs a subcommand other than help. @return its exit status. */
int tool_command_run(const command *c, session *s, const char *const *operands, size_t count);

/* Reads the command line. Options may stand before and after operands; `--` ends them. Mistakes are printed.
 * @return EXIT_OK or EXIT_ERROR. The words are to be given back with tool_options_free(), in either case. */
int tool_options_parse(options *o, int argc, char **argv);
void tool_options_free(options *o);
/* Checks that the options given belong to a subcommand. */
int tool_options_check(const options *o, const command *c);
/* Prints the options that the help of a subcommand lists. */
void tool_options_help(const command *c, FILE *out);
/* Prints all options, by subcommand. */
void tool_options_all(FILE *out);

/* @return option `index` of a subcommand, its own options first; NULL after the last. @param c NULL: the common
 * options. */
const tool_option *tool_option_at(const command *c, size_t index);

/* Restricts the process, even if it is exploited (Landlock of Linux), if the subcommand only reads, all its inputs are
 * local and the kernel has Landlock: no program is executed, no TCP connection is made, and nothing is written but what
 * the command line asks for and temporary files. Reading is not restricted. Where the kernel has none of it, or a part
 * only, nothing else changes. @return EXIT_OK or EXIT_ERROR, with the error printed. */
int tool_sandbox_enter(const command *c, const session *s, const char *const *operands, size_t count);
/* "Landlock, ABI 4", or the reason why it is missing. */
const char *tool_sandbox_words(char *buffer, size_t room);

/* ------------------------------------------------------------------------------------------------- subcommands -- */

int tool_run_info(session *s, const char *const *operands, size_t count);
int tool_run_show(session *s, const char *const *operands, size_t count);
extern const tool_option tool_types_options[];
int tool_run_types(session *s, const char *const *operands, size_t count);
int tool_run_plugins(session *s, const char *const *operands, size_t count);
int tool_run_completion(session *s, const char *const *operands, size_t count);
int tool_run_profiles(session *s, const char *const *operands, size_t count);

#endif
