/* SPDX-License-Identifier: MIT OR Apache-2.0
 * libltdl by its own names, opened when the first plugin is: the functions of it that module.c calls. */
#include <ltdl.h>

#include "core/base/base.h"
#include "core/registry/open_private.h"

#ifdef LR_LTDL_SONAME

static struct {
    __typeof__(lt_dlinit) *init;
    __typeof__(lt_dlexit) *leave;
    __typeof__(lt_dlloader_add) *loader_add;
    __typeof__(lt_dladvise_init) *advise_init;
    __typeof__(lt_dladvise_local) *advise_local;
    __typeof__(lt_dladvise_destroy) *advise_destroy;
    __typeof__(lt_dlopenadvise) *open;
    __typeof__(lt_dlsym) *symbol;
    __typeof__(lt_dlgetinfo) *info;
    __typeof__(lt_dlmakeresident) *make_resident;
    __typeof__(lt_dlclose) *close;
} ltdl;

static const lr_late_function functions[] = {
    {"lt_dlinit", &ltdl.init},
    {"lt_dlexit", &ltdl.leave},
    {"lt_dlloader_add", &ltdl.loader_add},
    {"lt_dladvise_init", &ltdl.advise_init},
    {"lt_dladvise_local", &ltdl.advise_local},
    {"lt_dladvise_destroy", &ltdl.advise_destroy},
    {"lt_dlopenadvise", &ltdl.open},
    {"lt_dlsym", &ltdl.symbol},
    {"lt_dlgetinfo", &ltdl.info},
    {"lt_dlmakeresident", &ltdl.make_resident},
    {"lt_dlclose", &ltdl.close},
};

static lr_late library = {LR_LTDL_SONAME, functions, sizeof functions / sizeof *functions, false};
LR_LATE_NOTE(note, "plugins", LR_LTDL_SONAME);

bool lr_ltdl_open(char *reason)
{
    return lr_late_open(&library, reason, LR_REASON);
}

int lt_dlinit(void)
{
    return ltdl.init();
}

int lt_dlexit(void)
{
    return ltdl.leave();
}

int lt_dlloader_add(const lt_dlvtable *loader)
{
    return ltdl.loader_add(loader);
}

int lt_dladvise_init(lt_dladvise *advice)
{
    return ltdl.advise_init(advice);
}

int lt_dladvise_local(lt_dladvise *advice)
{
    return ltdl.advise_local(advice);
}

int lt_dladvise_destroy(lt_dladvise *advice)
{
    return ltdl.advise_destroy(advice);
}

lt_dlhandle lt_dlopenadvise(const char *path, lt_dladvise advice)
{
    return ltdl.open(path, advice);
}

void *lt_dlsym(lt_dlhandle handle, const char *name)
{
    return ltdl.symbol(handle, name);
}

const lt_dlinfo *lt_dlgetinfo(lt_dlhandle handle)
{
    return ltdl.info(handle);
}

int lt_dlmakeresident(lt_dlhandle handle)
{
    return ltdl.make_resident(handle);
}

int lt_dlclose(lt_dlhandle handle)
{
    return ltdl.close(handle);
}

#else

bool lr_ltdl_open(char *reason)
{
    reason[0] = '\0';
    return true;
}

#endif
