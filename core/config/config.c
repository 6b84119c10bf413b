/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A configuration and what is in it. read.c fills it. */
#include "core/config/config_private.h"

void lr_config_reset(lr_config *config, const lr_allocator *allocator)
{
    *config = (lr_config){.allocator = allocator, .file = ""};
    lr_arena_init(&config->arena, allocator);
}

lr_config *lr_config_new(const lr_allocator *allocator)
{
    lr_config *config = lr_alloc(allocator, sizeof *config);
    if (config) {
        lr_config_reset(config, allocator);
    }
    return config;
}

void lr_config_free(lr_config *config)
{
    lr_arena_free(&config->arena);
    lr_release(config->allocator, config);
}

/* ------------------------------------------------------------------------------------------------ the contents -- */

const char *lr_config_file(const lr_config *config)
{
    return config->file;
}

const char *lr_config_recorder(const lr_config *config, uint32_t *line)
{
    *line = config->values[KEY_RECORDER].line;
    return config->values[KEY_RECORDER].text;
}

rec_precision lr_config_precision(const lr_config *config)
{
    return (rec_precision)config->values[KEY_PRECISION].number;
}

const char *lr_config_plugin_path(const lr_config *config)
{
    return config->values[KEY_PLUGIN_PATH].text;
}

int32_t lr_config_plugins(const lr_config *config)
{
    return config->values[KEY_PLUGINS].line ? (int32_t)config->values[KEY_PLUGINS].number : -1;
}

int32_t lr_config_sources(const lr_config *config)
{
    return config->values[KEY_SOURCES].line ? (int32_t)config->values[KEY_SOURCES].number : -1;
}

uint32_t lr_config_threads(const lr_config *config)
{
    return (uint32_t)config->values[KEY_THREADS].number;
}

static void apply(const lr_config *config, int key, uint64_t *limit)
{
    if (config->values[key].line) {
        *limit = config->values[key].number;
    }
}

void lr_config_limits(const lr_config *config, rec_limits *limits)
{
    uint64_t depth = limits->depth;
    apply(config, KEY_MEMORY_FACTOR, &limits->memory_factor);
    apply(config, KEY_MEMORY_SLACK, &limits->memory_slack);
    apply(config, KEY_INFLATED_FACTOR, &limits->inflated_factor);
    apply(config, KEY_INFLATED_SLACK, &limits->inflated_slack);
    apply(config, KEY_ELEMENTS, &limits->elements);
    apply(config, KEY_DEPTH, &depth);
    limits->depth = (uint32_t)depth;
}

const lr_recorder_section *lr_config_find_recorder(const lr_config *config, const char *name)
{
    for (uint64_t i = 0; i < config->section_count; i++) {
        if (lr_name_same(config->sections[i].name, name)) {
            return &config->sections[i];
        }
    }
    return NULL;
}

uint64_t lr_config_recorder_count(const lr_config *config)
{
    return config->section_count;
}

const lr_recorder_section *lr_config_recorder_at(const lr_config *config, uint64_t index)
{
    return index < config->section_count ? &config->sections[index] : NULL;
}

const lr_profile_section *lr_config_find_profile(const lr_config *config, const char *name)
{
    for (uint64_t i = 0; i < config->profile_count; i++) {
        if (lr_name_same(config->profiles[i].name, name)) {
            return &config->profiles[i];
        }
    }
    return NULL;
}

uint64_t lr_config_profile_count(const lr_config *config)
{
    return config->profile_count;
}

const lr_profile_section *lr_config_profile_at(const lr_config *config, uint64_t index)
{
    return index < config->profile_count ? &config->profiles[index] : NULL;
}
