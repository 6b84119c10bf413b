/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The subcommands. */
#include <string.h>

#include "tools/browse/browse.h"
#include "tools/edit/edit.h"
#include "tools/embed/embed.h"
#include "tools/list/list.h"
#include "tools/report/report.h"
#include "tools/verify/verify.h"
#include "tools/tool.h"

const command tool_commands[] = {
    {"info", COMMAND_INFO, 1, SIZE_MAX, "FILE...", "print the writer, the precision and the contents",
     "A directory stands for all records in it and its subdirectories.\n", "from type profile all json config",
     "  record info model.mpk\n"
     "  record info --json checkpoints | jq -r '.files[].recorder'\n",
     NULL},
    {"ls", COMMAND_LS, 1, SIZE_MAX, "FILE [KEY]...", "list tensors and values; folds repeated layers",
     "A directory stands for all records in it and its subdirectories. A KEY restricts\n"
     "the list to that key and everything below it. Patterns: * is any text, ? a\n"
     "character, # a number, {a,b} and {0-3} alternatives; !KEY excludes. An operand\n"
     "that names an existing file is a FILE, not a KEY.\n",
     "all long sort tree depth json",
     "  record ls --tree --depth 2 mnist.mpk\n"
     "  record ls -l --sort size mnist.mpk '*.weight' '!stem'\n"
     "  record ls --json mnist.mpk | jq '.tensors[].key'\n",
     tool_ls_options},
    {"show", COMMAND_SHOW, 1, SIZE_MAX, "FILE [KEY]...", "print values",
     "KEY is a key printed by record ls --all, with an optional slice, or a pattern.\n"
     "Without KEY the whole tree is printed.\n",
     "output precision type profile all json",
     "  record show mnist.mpk 'stem.weight[0, :, 1:3, ::2]'\n"
     "  record show mnist.mpk 'fc*.bias' '!fc2.*'\n"
     "  record show mnist.mpk fc1.weight -o w.npy\n",
     tool_show_options},
    {"stats", COMMAND_STATS, 1, SIZE_MAX, "FILE [KEY]", "print statistics: extremes, moments, anomalies",
     "Prints minimum, maximum, mean, standard deviation, norm and a histogram of the\n"
     "finite values. Then it counts zeros, NaN, infinite and subnormal numbers, and\n"
     "values that half precision cannot represent. Similar layers are measured\n"
     "together. KEYs are keys or patterns, as for record ls.\n",
     "precision type profile threads all json",
     "  record stats model.mpk\n"
     "  record stats --all model.mpk 'layers.{0-3}.*.weight' '!*norm*'\n"
     "  record stats --json *.mpk | jq '.tensors[] | select(.nan > 0).key'\n",
     NULL},
    {"diff", COMMAND_DIFF, 2, SIZE_MAX, "A B [KEY]...", "compare two records: structure, then values",
     "CHANGE is the norm of the difference divided by the larger norm, COSINE the\n"
     "cosine of the angle, LARGEST the largest difference, DIFFER the share of\n"
     "elements that differ. A line for several layers describes the one that changed\n"
     "most. Load arguments and --type apply to the file that follows them. KEYs are\n"
     "keys or patterns, as for record ls. The exit status is 1 if the records differ.\n",
     "atol rtol ignore by brief all",
     "  record diff --ignore dtype mnist.mpk mnist-half.mpk\n"
     "  record diff --profile llama model.safetensors model.mpk\n"
     "  record diff --rtol 1e-5 mnist.mpk epoch-20.mpk && echo close enough\n",
     tool_diff_options},
    {"verify", COMMAND_VERIFY, 1, SIZE_MAX, "FILE...", "check files for corruption, and their checksums",
     "Checks compression checksums, structure, text, shapes, offsets, bools, and that\n"
     "the tensors of each module fit together. The exit status is 1 if a file has a\n"
     "problem. A directory stands for all records in it. --sums write stores the\n"
     "SHA-256 of every tensor in FILE.sums; --sums check compares them, also with the\n"
     "same record in another format.\n",
     "nan sums sums-file in-metadata type json",
     "  record verify --nan checkpoints/\n"
     "  record verify --sums write model.mpk && record verify --sums check model.mpk\n"
     "  record verify --sums check --sums-file model.mpk.sums model.json.gz\n",
     tool_verify_options},
    {"convert", COMMAND_CONVERT, 2, SIZE_MAX, "IN... OUT", "convert to another format, precision or version",
     "Several IN are combined into one OUT, unless OUT is a directory or ends in a\n"
     "slash: then each IN becomes a file in it. With several inputs, a load argument\n"
     "applies to the input that follows it; after the last input it applies to all.\n"
     "The save is atomic, so IN and OUT may be the same file. On a terminal, record\n"
     "asks before it overwrites a file.\n",
     "to precision burn type profile recursive",
     "  record convert --profile llama model.safetensors model.mpk\n"
     "  record convert -r --burn 0.21 --type 'optim*=Adam' old new\n"
     "  record convert --prefix enc a.safetensors --prefix dec b.safetensors both.mpk\n",
     tool_convert_options},
    {"plan", COMMAND_PLAN, 1, SIZE_MAX, "IN...", "show how a model would be converted",
     "Prints one line for each tensor: its key, element type and shape, the result,\n"
     "and the reason; then notes and problems with hints. Repeated layers are folded.\n"
     "The exit status is 1 if something needs a decision. The plan is for a Burn\n"
     "record, or with --to for a file of that recorder.\n",
     "to type profile remap reverse all",
     "  record plan --profile llama model.safetensors\n"
     "  record plan --prefix enc a.safetensors --prefix dec b.safetensors\n",
     NULL},
    {"edit", COMMAND_EDIT, 1, SIZE_MAX, "FILE... OP...", "set, remove, rename, cast, merge and split values",
     "Operations, applied in order; KEY may be a pattern, FILE may be `new` (empty):\n"
     "  set KEY VALUE   a number, true, \"text\", null; a tensor: 'f32 [[1, 2]]',\n"
     "                  'f32[512, 512]=0', @FILE, @FILE:KEY\n"
     "  rm KEY...       remove the values and everything below them\n"
     "  mv RE TEXT      rename keys by a regular expression, like convert --remap\n"
     "  cast KEY TYPE   change the element type\n"
     "  meta KEY VALUE  set metadata, with a type 'u32 5', from @FILE; \"\" removes it\n"
     "  merge FILE      add the values of another record\n"
     "  split           write several files, by --by; must be last\n",
     "output in-place by dry-run",
     "  record edit net.mpk rm head cast '*' f16 -o body.mpk\n"
     "  record edit model.mpk split --by key -o 'part-{}.mpk'\n",
     tool_edit_options},
    {"types", COMMAND_TYPES, 1, 1, "FILE", "print the type of a record as Rust source",
     "Assumptions about facts that a record does not show are marked. For a file\n"
     "without names (.bin) the type is reconstructed from the bytes between its\n"
     "parameters. --check only reports whether the record has the given type.\n",
     "check type types c name json",
     "  record types --check --type model.rs:Model model.bin\n"
     "  record types --c model.mpk > model.h\n",
     tool_types_options},
    {"embed", COMMAND_EMBED, 1, 1, "FILE", "embed a record in a program: C or an object file",
     "The output is an array for rec_load_bytes(), or with --structs a C constant that\n"
     "needs no library. --to and --precision convert the record first.\n",
     "output name as structs to precision",
     "  record embed --precision half --output model.c model.mpk\n"
     "  record embed --structs --output model.h model.mpk\n",
     tool_embed_options},
    {"report", COMMAND_REPORT, 1, SIZE_MAX, "FILE...", "write an HTML page: sizes, statistics, changes",
     "One record: sizes, statistics and histograms of its tensors. Two: the changes\n"
     "from the first to the second. More, or a directory of checkpoints: their\n"
     "development, in the order of the numbers in their names. The page needs no\n"
     "network.\n",
     "output include type profile json",
     "  record report before.mpk after.safetensors -o changes.html\n"
     "  record report checkpoint -o training.html\n"
     "  record report checkpoint --include 'optim-*' -o optimizer.html\n",
     tool_report_options},
    {"browse", COMMAND_BROWSE, 1, SIZE_MAX, "FILE...", "browse records on the terminal",
     "Shows the tree of one or more files with totals; Enter opens a tensor with its\n"
     "statistics and elements. ? explains the keys, / searches, q quits. --json prints\n"
     "the tree and needs no terminal.\n",
     "mouse precision type profile json",
     "  record browse --profile llama model.safetensors\n"
     "  record browse --json model.mpk | jq '.files[].tree.children[].name'\n",
     tool_browse_options},
    {"profiles", COMMAND_PROFILES, 0, 1, "[NAME]", "list the profiles, or print the rules of one", "",
     "all json config", "  record profiles llama\n", NULL},
    {"plugins", COMMAND_PLUGINS, 0, 1, "[NAME]", "list the recorders, or describe one", "", "why json config",
     "  record plugins mpk-gz\n", NULL},
    {"completion", COMMAND_COMPLETION, 1, SIZE_MAX, "SHELL", "print the completion script for bash, zsh or fish",
     "`make install` installs completion. Without that, for this session:\n"
     "  eval \"$(record completion bash)\"        also in ~/.bashrc\n"
     "  source <(record completion zsh)          after compinit, in ~/.zshrc\n"
     "  record completion fish | source          in ~/.config/fish/config.fish\n"
     "The scripts call record completion words -- WORD..., which prints the candidates\n"
     "for the last WORD, one on each line, with a tab before the description.\n",
     "quiet help", "", NULL},
    {"help", COMMAND_HELP, 0, 1, "[COMMAND]", "print help; record help options lists all options", "", "color help", "",
     NULL},
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
