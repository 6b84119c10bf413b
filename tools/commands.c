/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The subcommands. */
#include <string.h>

#include "tools/browse/browse.h"
#include "tools/diff/diff.h"
#include "tools/edit/edit.h"
#include "tools/embed/embed.h"
#include "tools/list/list.h"
#include "tools/report/report.h"
#include "tools/stats/stats.h"
#include "tools/verify/verify.h"
#include "tools/tool.h"

/* The rule for several inputs. */
#define SEVERAL                                                                         \
    "With several inputs, a load argument is for the input behind it; one behind the\n" \
    "last input is for all of them:\n"                                                  \
    "  record convert --prefix enc a.safetensors --prefix dec b.safetensors both.mpk\n"

const command tool_commands[] = {
    {"info", COMMAND_INFO, 1, SIZE_MAX, "FILE...", "who wrote a record, and what is in it",
     "FILE may be a folder: then it is all records in it and below it. Options are for\n"
     "all files.\n",
     NULL},
    {"ls", COMMAND_LS, 1, SIZE_MAX, "FILE [KEY]...", "list tensors and values, repeated layers folded", tool_ls_more,
     tool_ls_options},
    {"show", COMMAND_SHOW, 1, SIZE_MAX, "FILE [KEY]...", "print the values at keys",
     "KEY is a name as `record ls --all` lists it, and may have a slice, or a pattern:\n"
     "  record show mnist.mpk 'stem.weight[0, :, 1:3, ::2]'\n"
     "  record show mnist.mpk 'fc*.bias' '!fc2.*'\n"
     "Without KEY the whole tree is shown.\n",
     NULL},
    {"stats", COMMAND_STATS, 1, SIZE_MAX, "FILE [KEY]", "what the numbers are like: extremes, moments", tool_stats_more,
     NULL},
    {"diff", COMMAND_DIFF, 2, 2, "A B", "compare two records: structure, then values", tool_diff_more,
     tool_diff_options},
    {"verify", COMMAND_VERIFY, 1, SIZE_MAX, "FILE...", "see whether records are whole, and what they were",
     tool_verify_more, tool_verify_options},
    {"convert", COMMAND_CONVERT, 2, SIZE_MAX, "IN... OUT", "read with one recorder, write with another",
     "OUT gets the extension of its recorder unless it has it. It is written whole or\n"
     "not at all, so IN and OUT may be the same file. Several IN become one OUT, but\n"
     "where OUT is a folder, or ends in a slash, each a file in it. With --recursive\n"
     "IN and OUT are folders, and --type GLOB=TYPE, once or more, tells the types of\n"
     "their files. On a terminal it is asked before a file is overwritten:\n"
     "  record convert -r --burn 0.21 --type 'optim*=Adam' old new\n"
     "A safetensors file of PyTorch becomes a record by a plan; record plan shows it:\n"
     "  record convert --profile llama model.safetensors model.mpk\n" SEVERAL,
     tool_convert_options},
    {"plan", COMMAND_PLAN, 1, SIZE_MAX, "IN...", "show what becomes of each key, before data are read",
     "One line for each tensor: its key and form, what it becomes, and why. Repeated\n"
     "layers are folded. Then what is wrong, and what to do about it; the status is 1\n"
     "if something needs a decision. --to says what it is for (default: a record of\n"
     "Burn), --debug prints what Burn's own import prints.\n" SEVERAL,
     NULL},
    {"edit", COMMAND_EDIT, 1, SIZE_MAX, "FILE... OP...", "change what is in a record: set, rm, mv, cast, merge",
     tool_edit_more, tool_edit_options},
    {"types", COMMAND_TYPES, 1, 1, "FILE", "print the type of a record as Rust source",
     "What a record does not show is assumed, and marked. Of a file without names\n"
     "(.bin) a type is made up that reads it, by the bytes between its parameters;\n"
     "if there is none, one to be completed by the model's source is printed.\n"
     "Fields without parameters count: numbers are usize, activations and pools their\n"
     "own types.\n"
     "With --check it is only seen whether the type given fits:\n"
     "  record types --check --type model.rs:Model model.bin\n"
     "With --c it is a header with the struct that rec_bind() fills in:\n"
     "  record types --c model.mpk > model.h\n",
     tool_types_options},
    {"embed", COMMAND_EMBED, 1, 1, "FILE", "make a record part of a program: C, an object file", tool_embed_more,
     tool_embed_options},
    {"report", COMMAND_REPORT, 1, SIZE_MAX, "FILE...", "make a page for browsers: sizes, figures, changes",
     tool_report_more, tool_report_options},
    {"browse", COMMAND_BROWSE, 1, SIZE_MAX, "FILE...", "look about in records on the terminal", tool_browse_more,
     tool_browse_options},
    {"profiles", COMMAND_PROFILES, 0, 1, "[NAME]", "list the profiles, or print the rules of one", "", NULL},
    {"plugins", COMMAND_PLUGINS, 0, 1, "[NAME]", "list the recorders that are there, or tell all of one", "", NULL},
    {"completion", COMMAND_COMPLETION, 1, SIZE_MAX, "SHELL", "print what completes words in bash, zsh or fish",
     "It is installed with the command; without that, for this session:\n"
     "  eval \"$(record completion bash)\"        also in ~/.bashrc\n"
     "  source <(record completion zsh)          behind compinit, in ~/.zshrc\n"
     "  record completion fish | source          in ~/.config/fish/config.fish\n"
     "Commands, options and their values are completed, recorders, profiles, types\n"
     "also those of a Rust file (--type model.rs:), and keys of the file named before.\n"
     "The scripts ask for candidates: record completion words -- WORD... prints those\n"
     "for the last WORD, a line each, with a tab before what it means.\n",
     NULL},
    {"help", COMMAND_HELP, 0, 1, "[COMMAND]", "print help", "", NULL},
    {0},
};

const command *tool_command_find(const char *name)
{
    for (const command *c = tool_commands; c->name; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}
