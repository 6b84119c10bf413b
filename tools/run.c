/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The function of each subcommand. */
#include "tools/browse/browse.h"
#include "tools/edit/edit.h"
#include "tools/embed/embed.h"
#include "tools/list/list.h"
#include "tools/report/report.h"
#include "tools/stats/stats.h"
#include "tools/verify/verify.h"
#include "tools/tool.h"

int tool_command_run(const command *c, session *s, const char *const *operands, size_t count)
{
    static const struct {
        int bit;
        int (*run)(session *s, const char *const *operands, size_t count);
    } all[] = {
        {COMMAND_INFO, tool_run_info},       {COMMAND_LS, tool_run_ls},
        {COMMAND_SHOW, tool_run_show},       {COMMAND_STATS, tool_run_stats},
        {COMMAND_DIFF, tool_run_diff},       {COMMAND_VERIFY, tool_run_verify},
        {COMMAND_CONVERT, tool_run_convert}, {COMMAND_PLAN, tool_run_plan},
        {COMMAND_EDIT, tool_run_edit},       {COMMAND_TYPES, tool_run_types},
        {COMMAND_EMBED, tool_run_embed},     {COMMAND_REPORT, tool_run_report},
        {COMMAND_BROWSE, tool_run_browse},   {COMMAND_PROFILES, tool_run_profiles},
        {COMMAND_PLUGINS, tool_run_plugins}, {COMMAND_COMPLETION, tool_run_completion},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].bit == c->bit) {
            return all[i].run(s, operands, count);
        }
    }
    return EXIT_ERROR;
}
