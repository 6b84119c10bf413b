/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What PyTorch's and Burn's layouts of a module have different: one table, read forwards and backwards. */
#include <string.h>

#include "remap/rules/rules.h"

typedef struct change {
    const char *torch; /* PyTorch's field */
    const char *burn;  /* Burn's; NULL: it has none */
    bool transpose;
} change;

typedef struct module {
    const char *name;
    change changes[6];
} module;

/* Burn's own safetensors import leaves RmsNorm, PRelu and InstanceNorm alone, and no Burn can use the result. */
static const module modules[] = {
    {"Linear", {{"weight", "weight", true}}},
    {"BatchNorm", {{"weight", "gamma", false}, {"bias", "beta", false}, {"num_batches_tracked", NULL, false}}},
    {"LayerNorm", {{"weight", "gamma", false}, {"bias", "beta", false}}},
    {"GroupNorm", {{"weight", "gamma", false}, {"bias", "beta", false}}},
    {"RmsNorm", {{"weight", "gamma", false}}},
    {"PRelu", {{"weight", "alpha", false}}},
    {"InstanceNorm",
     {{"weight", "gamma", false},
      {"bias", "beta", false},
      {"running_mean", NULL, false},
      {"running_var", NULL, false},
      {"num_batches_tracked", NULL, false}}},
};

/* Modules that are the same on both sides. transformers' Conv1D is a Linear that is stored [in, out] already. */
const char *const lr_adapt_types[] = {
    "BatchNorm",       "Conv1D",    "Conv1d",    "Conv2d",       "Conv3d",    "ConvTranspose1d", "ConvTranspose2d",
    "ConvTranspose3d", "Embedding", "GroupNorm", "InstanceNorm", "LayerNorm", "Linear",          "PRelu",
    "Param",           "RmsNorm",   NULL};

bool lr_adapt_known(const char *type)
{
    for (size_t i = 0; lr_adapt_types[i]; i++) {
        if (strcmp(lr_adapt_types[i], type) == 0) {
            return true;
        }
    }
    return false;
}

static const module *find(const char *type)
{
    for (size_t i = 0; type && i < sizeof modules / sizeof *modules; i++) {
        if (strcmp(modules[i].name, type) == 0) {
            return &modules[i];
        }
    }
    return NULL;
}

static bool same(const char *name, const char *text, uint64_t length)
{
    return strlen(name) == length && memcmp(name, text, (size_t)length) == 0;
}

int lr_adapt_field(const char *type, const char *field, uint64_t length, const char **burn)
{
    const module *m = find(type);
    *burn = NULL;
    for (size_t i = 0; m && i < sizeof m->changes / sizeof *m->changes; i++) {
        const change *c = &m->changes[i];
        if (c->torch && same(c->torch, field, length)) {
            *burn = c->burn;
            return !c->burn ? LR_ADAPT_DROP : c->transpose ? LR_ADAPT_TRANSPOSE : LR_ADAPT_RENAME;
        }
    }
    return LR_ADAPT_NONE;
}

int lr_adapt_back(const char *type, const char *field, uint64_t length, const char **torch)
{
    const module *m = find(type);
    *torch = NULL;
    for (size_t i = 0; m && i < sizeof m->changes / sizeof *m->changes; i++) {
        const change *c = &m->changes[i];
        if (c->burn && same(c->burn, field, length)) {
            *torch = c->torch;
            return c->transpose ? LR_ADAPT_TRANSPOSE : LR_ADAPT_RENAME;
        }
    }
    return LR_ADAPT_NONE;
}
