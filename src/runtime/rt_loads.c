/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of dlopen and dlclose. Sleds of loaded objects are patched. The addresses of functions of unloaded objects
 * are forgotten, because other functions may be loaded there. In the static archive, this file is a separate member, so
 * that it is not linked into programs that call neither dlopen nor dlclose.
 *
 * Before an object's constructors run, its _init calls __gmon_start__ if that is defined (crti.o of glibc and musl, for
 * profilers). At that time all objects being loaded are mapped and relocated, and none of their code has run. An object
 * without this _init (linked with -nostartfiles) is patched when dlopen returns.
 *
 * glibc searches a name without a slash in the paths of the object that calls dlopen (DT_RUNPATH, $ORIGIN). If that
 * matters, the call is passed on as a tail call, so that glibc sees the original caller.
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
        return next(file, mode); /* compiled to a jump, which tests/runtime checks */
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
