/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record: the command. Finds the subcommand, prints help, and checks that all output was written. */
#include <signal.h>
#include <string.h>

#include "tools/tool.h"

enum { COMMANDS_MOST = 32 };

static int fail_unknown(const char *name)
{
    const char *names[COMMANDS_MOST] = {0};
    const char *near;
    text all = {0};

    for (const command *c = tool_commands; c->name; c++) {
        names[c - tool_commands] = c->name;
        tool_text_format(&all, "%s%s", all.length ? ", " : "", c->name);
    }
    near = tool_nearest(name, names);
    (void)tool_fail(near ? "unknown command \"%s\"\nDid you mean record %s?" : "unknown command \"%s\"\nCommands: %s.",
                    name, near ? near : all.at);
    tool_text_free(&all);
    return EXIT_ERROR;
}

static void print_help(void)
{
    puts("Usage: record COMMAND [OPTION]... [OPERAND]...\n"
         "Inspects and converts records of the Burn deep-learning framework.\n");
    for (const command *c = tool_commands; c->name; c++) {
        printf("  %-10s %-13s %s\n", c->name, c->operands, c->summary);
    }
    puts("\nA file may be - for standard input or output. record COMMAND --help explains a\n"
         "command, record help options lists all options, man record describes them.");
}

static void print_command_help(const command *c)
{
    printf("Usage: record %s [OPTION]...%s%s\n%c%s.\n", c->name, *c->operands ? " " : "", c->operands,
           c->summary[0] - 'a' + 'A', c->summary + 1);
    if (*c->more) {
        printf("\n%s", c->more);
    }
    if (*c->shown) {
        puts("\nOptions:");
        tool_options_help(c, stdout);
    }
    if (*c->examples) {
        printf("\nExamples:\n%s", c->examples);
    }
    printf("\nrecord help options lists all options, man record%s%s describes them.\n",
           c->bit == COMMAND_HELP ? "" : "-", c->bit == COMMAND_HELP ? "" : c->name);
}

static int run_help(const char *name)
{
    const command *c = name ? tool_command_find(name) : NULL;

    if (name && strcmp(name, "options") == 0) {
        tool_options_all(stdout);
        return EXIT_OK;
    }
    if (name && !c) {
        return fail_unknown(name);
    }
    if (c) {
        print_command_help(c);
    } else {
        print_help();
    }
    return EXIT_OK;
}

static int run(const command *c, const options *o)
{
    const char *const *operands = o->operands.at + 1;
    size_t count = o->operands.count - 1;
    session s;
    int status;

    if (o->help) {
        return run_help(c->name);
    }
    if ((status = tool_options_check(o, c)) != EXIT_OK) {
        return status;
    }
    if (count < c->least || count > c->most) {
        return tool_fail_usage(c->name, "expected record %s%s%s, found %zu operand%s", c->name, *c->operands ? " " : "",
                               c->operands, count, tool_plural(count));
    }
    if (c->bit == COMMAND_HELP) {
        return run_help(count ? operands[0] : NULL);
    }
    if ((status = tool_session_open(&s, o)) == EXIT_OK) {
        status = tool_sandbox_enter(c, &s, operands, count);
        status = status == EXIT_OK ? tool_command_run(c, &s, operands, count) : status;
        tool_session_close(&s);
    }
    return status;
}

int main(int argc, char **argv)
{
    options o = {0};
    const command *c;
    char sandbox[64];
    int status = tool_options_parse(&o, argc, argv);

    /* If the reader of a pipe ends, the command ends silently, whatever the caller has set. */
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error in words */
    tool_output_setup(o.color);
    (void)rec_guard_maps(); /* without it a file that is cut meanwhile ends the command by a signal */
    if (status != EXIT_OK) {
        goto done;
    }
    if (o.version) {
        printf("record (librecord) %s\nsandbox: %s\n", rec_version_string(),
               tool_sandbox_words(sandbox, sizeof sandbox));
    } else if (o.operands.count == 0 && o.help) {
        print_help();
    } else if (o.operands.count == 0) {
        status = tool_fail_usage(NULL, "a command was expected: info, ls, show, convert or another");
    } else if ((c = tool_command_find(o.operands.at[0]))) {
        status = run(c, &o);
    } else {
        status = fail_unknown(o.operands.at[0]);
    }
    if (tool_output_finish() != EXIT_OK) {
        status = status == EXIT_OK && tool_memory_was_saved() ? EXIT_UNSYNCED : EXIT_ERROR;
    }
    if (status != EXIT_ERROR && rec_guard_check(NULL) != REC_OK) {
        status = tool_fail_library();
    }
    status = tool_saved_status(status);

done:
    tool_options_free(&o);
    return status;
}
