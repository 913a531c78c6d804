/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen and dlclose, seen on their way: sleds of what was loaded are patched, and functions of what is unmapped have
 * an id no more, since others may come to lie there. In the archive this is a member of its own, so that programs which
 * never call these need nothing of it.
 *
 * Before an object's own constructors run, its _init calls __gmon_start__ where somebody has that (crti.o of glibc and
 * musl; made for profilers): then everything that is being loaded is mapped and relocated, and nothing of it has run
 * yet. An object without that _init, linked with -nostartfiles, is seen when dlopen returns.
 *
 * glibc looks for a name without a folder where the object says that calls dlopen (DT_RUNPATH, $ORIGIN). Where that
 * matters the call goes on as it is, with the caller as its caller.
 */
#include "runtime/rt_sleds.h"

#include <dlfcn.h>
#include <link.h>

RT_PLAIN __attribute__((visibility("default"))) void *dlopen(const char *file, int mode);
RT_PLAIN __attribute__((visibility("default"))) int dlclose(void *handle);
RT_PLAIN __attribute__((visibility("default"))) void __gmon_start__(void);

RT_RARE static bool has_paths(const void *caller) {
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(caller, &info, (void **)(void *)&map, RTLD_DL_LINKMAP) || !map)
        return true;
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_RPATH || d->d_tag == DT_RUNPATH)
            return true;
    return false;
}

RT_PLAIN static bool depends_on_caller(const char *file, const void *caller) {
    bool has_folder = false;
    for (const char *c = file; c && *c; c++) {
        has_folder |= *c == '/';
        if (*c == '$')
            return true;
    }
    return file && *file && !has_folder && has_paths(caller);
}

void __gmon_start__(void) {
    rt_loaded();
}

void *dlopen(const char *file, int mode) {
    void *(*next)(const char *, int);
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "dlopen");
    if (!next)
        return NULL;
    if (depends_on_caller(file, __builtin_return_address(0)))
        return next(file, mode); /* a jump: tests/runtime sees to it */
    void *const handle = next(file, mode);
    rt_loaded();
    return handle;
}

int dlclose(void *handle) {
    int (*next)(void *);
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "dlclose");
    rt_unloading();
    const int result = next ? next(handle) : -1;
    rt_unloaded();
    return result;
}
