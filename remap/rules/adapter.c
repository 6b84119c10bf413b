/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What PyTorch's and Burn's layouts of a module have different: one table, read forwards and backwards. */
#include <string.h>

#include "remap/rules/rules.h"

/* `import`: Burn's own safetensors import adapts it where the destination's type names it; so it does in librecord, and
 * RmsNorm and PRelu too, which Burn fails to load. InstanceNorm is left to rules: Burn loads it, without its weights.
 */
typedef struct change {
    const char *torch; /* PyTorch's field */
    const char *burn;  /* Burn's; NULL: it has none */
    bool transpose;
} change;

typedef struct module {
    const char *name;
    bool import;
    change changes[6];
} module;

static const module modules[] = {
    {"Linear", true, {{"weight", "weight", true}}},
    {"BatchNorm", true, {{"weight", "gamma", false}, {"bias", "beta", false}, {"num_batches_tracked", NULL, false}}},
    {"LayerNorm", true, {{"weight", "gamma", false}, {"bias", "beta", false}}},
    {"GroupNorm", true, {{"weight", "gamma", false}, {"bias", "beta", false}}},
    {"RmsNorm", true, {{"weight", "gamma", false}}},
    {"PRelu", true, {{"weight", "alpha", false}}},
    {"InstanceNorm",
     false,
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

int lr_adapt_field(const char *type, const char *field, uint64_t length, bool import, const char **burn)
{
    const module *m = find(type);
    *burn = NULL;
    for (size_t i = 0; m && (m->import || !import) && i < sizeof m->changes / sizeof *m->changes; i++) {
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
