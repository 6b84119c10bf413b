/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What PyTorch's and Burn's layouts of a module have different: one table, read forwards and backwards. */
#include "common/names.h"
#include "remap/rules/rules.h"

typedef struct change {
    const char *torch; /* PyTorch's field */
    const char *burn;  /* Burn's; NULL: it has none */
    int how;           /* LR_ADAPT_… */
} change;

typedef struct module {
    const char *name;
    change changes[6];
} module;

/* Burn's own safetensors import leaves RmsNorm, PRelu and InstanceNorm alone, and no Burn can use the result. */
static const module modules[] = {
    {"Linear", {{"weight", "weight", LR_ADAPT_TRANSPOSE}}},
    {"BatchNorm",
     {{"weight", "gamma", LR_ADAPT_RENAME},
      {"bias", "beta", LR_ADAPT_RENAME},
      {"num_batches_tracked", NULL, LR_ADAPT_DROP}}},
    {"LayerNorm", {{"weight", "gamma", LR_ADAPT_RENAME}, {"bias", "beta", LR_ADAPT_RENAME}}},
    {"GroupNorm", {{"weight", "gamma", LR_ADAPT_RENAME}, {"bias", "beta", LR_ADAPT_RENAME}}},
    {"RmsNorm", {{"weight", "gamma", LR_ADAPT_RENAME}}},
    {"PRelu", {{"weight", "alpha", LR_ADAPT_RENAME}}},
    {"InstanceNorm",
     {{"weight", "gamma", LR_ADAPT_RENAME},
      {"bias", "beta", LR_ADAPT_RENAME},
      {"running_mean", NULL, LR_ADAPT_LACKS},
      {"running_var", NULL, LR_ADAPT_LACKS},
      {"num_batches_tracked", NULL, LR_ADAPT_DROP}}},
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

/* The change of a field of one side. @param other (out) its name on the other. */
static int look(const char *type, const char *field, uint64_t length, bool back, const char **other)
{
    const module *m = find(type);
    *other = NULL;
    for (size_t i = 0; m && i < sizeof m->changes / sizeof *m->changes; i++) {
        const change *c = &m->changes[i];
        const char *name = back ? c->burn : c->torch;
        if (name && lr_text_is(field, length, name)) {
            *other = back ? c->torch : c->burn;
            return c->how;
        }
    }
    return LR_ADAPT_NONE;
}

int lr_adapt_field(const char *type, const char *field, uint64_t length, const char **burn)
{
    return look(type, field, length, false, burn);
}

int lr_adapt_back(const char *type, const char *field, uint64_t length, const char **torch)
{
    return look(type, field, length, true, torch);
}
