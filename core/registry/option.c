/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Options of plugins: validates values and looks them up for the plugin. */
#include "core/registry/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool read_size(const char *text, int64_t *bytes)
{
    uint64_t number;
    bool fits = lr_size_read(text, &number) && number <= INT64_MAX;
    *bytes = fits ? (int64_t)number : 0;
    return fits;
}

static bool check_float(const rec_option *option, const char *value, char *why, size_t room)
{
    bool bound = REC_HAS(rec_option, option, high) && (option->low != 0 || option->high != 0);
    double number;
    (void)snprintf(why, room, "a number");
    if (bound) {
        (void)snprintf(why, room, "a number from %g to %g", option->low, option->high);
    }
    return lr_number_read(value, strlen(value), &number) &&
           (!bound || (number >= option->low && number <= option->high));
}

bool lr_option_check(const rec_option *option, const char *value, char *why, size_t room)
{
    bool flag;
    int64_t number;
    switch (option->type) {
    case REC_OPTION_BOOL:
        (void)snprintf(why, room, "yes or no");
        return lr_bool_read(value, &flag);
    case REC_OPTION_INT:
        (void)snprintf(why, room, "a whole number from %" PRId64 " to %" PRId64, option->minimum, option->maximum);
        return lr_int_read(value, &number) && number >= option->minimum && number <= option->maximum;
    case REC_OPTION_SIZE:
        (void)snprintf(why, room, "bytes, or a whole number of KiB, MiB or GiB, from %" PRId64 " to %" PRId64 " bytes",
                       option->minimum, option->maximum);
        return read_size(value, &number) && number >= option->minimum && number <= option->maximum;
    case REC_OPTION_FLOAT:
        return check_float(option, value, why, room);
    case REC_OPTION_CHOICE: {
        size_t used = (size_t)snprintf(why, room, "one of");
        for (size_t i = 0; option->choices && option->choices[i]; i++) {
            if (strcmp(option->choices[i], value) == 0) {
                return true;
            }
            if (used < room) {
                used += (size_t)snprintf(why + used, room - used, "%s %s", i ? "," : "", option->choices[i]);
            }
        }
        return false;
    }
    default:
        return true;
    }
}

/* Whether it is a deprecated name of the option. */
static bool is_old_name(const rec_option *option, const char *name)
{
    const char *const *old = REC_HAS(rec_option, option, old_names) ? option->old_names : NULL;
    while (old && *old && strcmp(*old, name) != 0) {
        old++;
    }
    return old && *old;
}

const rec_option *lr_option_find(const rec_plugin *plugin, const char *name)
{
    for (size_t i = 0; plugin->options && plugin->options[i]; i++) {
        if (strcmp(plugin->options[i]->name, name) == 0) {
            return plugin->options[i];
        }
    }
    for (size_t i = 0; plugin->options && plugin->options[i]; i++) {
        if (is_old_name(plugin->options[i], name)) {
            return plugin->options[i];
        }
    }
    return NULL;
}

/* The text of an option: as set, else its default. "" for unknown ones. */
const char *rec_job_option_text(const rec_job *job, const char *name)
{
    const rec_option *option;
    if (LR_LACKS(NULL, job) || LR_LACKS(NULL, name)) {
        return "";
    }
    option = job->plugin ? lr_option_find(job->plugin, name) : NULL;
    if (!option) {
        return "";
    }
    for (const lr_option_set *set = job->options; set; set = set->next) {
        if (strcmp(set->name, option->name) == 0 || is_old_name(option, set->name)) {
            return set->value;
        }
    }
    return option->initial ? option->initial : "";
}

int64_t rec_job_option_int(const rec_job *job, const char *name)
{
    const char *text = rec_job_option_text(job, name);
    int64_t number;
    bool flag;
    return read_size(text, &number) || lr_int_read(text, &number) ? number : lr_bool_read(text, &flag) ? flag : 0;
}

double rec_job_option_float(const rec_job *job, const char *name)
{
    const char *text = rec_job_option_text(job, name);
    double number;
    return lr_number_read(text, strlen(text), &number) ? number : 0;
}
