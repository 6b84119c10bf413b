/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record: the command. Finds the subcommand, prints help, and checks that all output was written. */
#include <signal.h>
#include <string.h>

#include "tools/embed/embed.h"
#include "tools/tool.h"

typedef struct command {
    const char *name;
    int bit;
    size_t least, most; /* operands */
    const char *operands, *summary;
    const char *more; /* further lines of the help, or "" */
    int (*run)(session *s, const char *const *operands, size_t count);
} command;

/* The rule for several inputs. */
#define SEVERAL                                                                         \
    "With several inputs, a load argument is for the input behind it; one behind the\n" \
    "last input is for all of them:\n"                                                  \
    "  record convert --prefix encoder a.safetensors --profile gpt2 b.mpk both.mpk\n"

static const command commands[] = {
    {"info", COMMAND_INFO, 1, 1, "FILE", "who wrote a record, and what is in it", "", tool_run_info},
    {"ls", COMMAND_LS, 1, 1, "FILE", "list tensors and values; repeated layers are folded", "", tool_run_ls},
    {"show", COMMAND_SHOW, 1, 2, "FILE [KEY]", "print the value at a key",
     "KEY is a name as `record ls --all` lists it, and may have a slice:\n"
     "  record show model.mpk 'conv1.weight[0, 1:3, ::2, -1]'\n"
     "Without KEY the whole tree is shown.\n",
     tool_run_show},
    {"convert", COMMAND_CONVERT, 2, SIZE_MAX, "IN... OUT", "read a record with one recorder, write it with another",
     "OUT gets the extension of its recorder unless it has it. It is written whole or\n"
     "not at all, so IN and OUT may be the same file. With --recursive IN and OUT are\n"
     "folders, and --type GLOB=TYPE, once or more, tells the types of their files:\n"
     "  record convert -r --burn 0.21 --type 'optim*=Adam' old new\n"
     "A safetensors file of PyTorch becomes a record by a plan; record plan shows it:\n"
     "  record convert --profile llama model.safetensors model.mpk\n" SEVERAL,
     tool_run_convert},
    {"plan", COMMAND_PLAN, 1, SIZE_MAX, "IN...", "show what becomes of each key, before any data are read",
     "One line for each tensor: its key and form, what it becomes, and why. Repeated\n"
     "layers are folded. Then what is wrong, and what to do about it; the status is 1\n"
     "if something needs a decision. --to says what it is for (default: a record of\n"
     "Burn), --debug prints what Burn's own import prints.\n" SEVERAL,
     tool_run_plan},
    {"profiles", COMMAND_PROFILES, 0, 1, "[NAME]", "list the profiles, or print the rules of one", "",
     tool_run_profiles},
    {"types", COMMAND_TYPES, 1, 1, "FILE", "print the type of a record as Rust source",
     "What a record does not show is assumed, and marked. A file without names (.bin)\n"
     "shows only its parameters: complete what is printed by the model's source.\n"
     "Fields without parameters count: numbers are usize, activations and pools their\n"
     "own types.\n"
     "With --check it is only seen whether the type given fits:\n"
     "  record types --check --type model.rs:Model model.bin\n",
     tool_run_types},
    {"embed", COMMAND_EMBED, 1, 1, "FILE", "make a record part of a program, as C or an object file",
     tool_embed_options_help, tool_run_embed},
    {"plugins", COMMAND_PLUGINS, 0, 1, "[NAME]", "list the recorders that are there, or tell all of one", "",
     tool_run_plugins},
    {"help", COMMAND_HELP, 0, 1, "[COMMAND]", "print help", "", NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int fail_unknown(const char *name)
{
    const char *names[COMMANDS + 1];
    const char *near;

    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
    }
    names[COMMANDS] = NULL;
    near = tool_nearest(name, names);
    if (near) {
        return tool_fail("there is no command \"%s\"\nDid you mean record %s?", name, near);
    }
    return tool_fail(
        "there is no command \"%s\"\nCommands: info, ls, show, convert, plan, profiles, types, embed, plugins, help.",
        name);
}

static void print_help(void)
{
    puts("Usage: record COMMAND [OPTION]... [OPERAND]...\n"
         "Looks into records of the Burn deep-learning framework and converts them.\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        printf("  %-8s %-11s %s\n", commands[i].name, commands[i].operands, commands[i].summary);
    }
    puts("\nA file may be - for standard input or output. record help COMMAND says more.\n\nOptions:");
    tool_options_help(0, stdout);
    puts("\nExit status: 0, 1 if a check failed or a plan is undecided, 2 after an error.");
}

static void print_command_help(const command *c)
{
    printf("Usage: record %s [OPTION]...%s%s\n%c%s.\n", c->name, *c->operands ? " " : "", c->operands,
           c->summary[0] - 'a' + 'A', c->summary + 1);
    if (*c->more) {
        printf("\n%s", c->more);
    }
    puts("\nOptions:");
    tool_options_help(c->bit, stdout);
}

static int run_help(const char *name)
{
    const command *c = name ? find(name) : NULL;

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
    if (o->embed->given && c->run != tool_run_embed) {
        return tool_fail_usage(c->name, "%s is no option of `record %s`", o->embed->given, c->name);
    }
    if ((status = tool_options_check(o, c->bit, c->name)) != EXIT_OK) {
        return status;
    }
    if (count < c->least || count > c->most) {
        return tool_fail_usage(c->name, "expected record %s%s%s, found %zu operand%s", c->name, *c->operands ? " " : "",
                               c->operands, count, tool_plural(count));
    }
    if (!c->run) {
        return run_help(count ? operands[0] : NULL);
    }
    if ((status = tool_session_open(&s, o)) == EXIT_OK) {
        status = c->run(&s, operands, count);
        tool_session_close(&s);
    }
    return status;
}

int main(int argc, char **argv)
{
    options o = {0};
    embed_wishes wishes;
    const command *c;
    int status = tool_embed_options(&wishes, &argc, argv);

    if (status == EXIT_OK) {
        status = tool_options_parse(&o, argc, argv);
        o.embed = &wishes;
    }

    /* A reader that has seen enough ends the command without a word, whatever the caller set up. */
    (void)signal(SIGPIPE, SIG_DFL);
    tool_output_setup(o.color);
    if (status != EXIT_OK) {
        goto done;
    }
    if (o.version) {
        printf("record (librecord) %s\n", rec_version_string());
    } else if (o.operands.count == 0 && o.help) {
        print_help();
    } else if (o.operands.count == 0) {
        status = tool_fail_usage(NULL, "a command was expected: info, ls, show, convert, plan, profiles, types, embed, "
                                       "plugins or help");
    } else if ((c = find(o.operands.at[0]))) {
        status = run(c, &o);
    } else {
        status = fail_unknown(o.operands.at[0]);
    }
    if (tool_output_finish() != EXIT_OK) {
        status = EXIT_ERROR;
    }

done:
    tool_options_free(&o);
    return status;
}
