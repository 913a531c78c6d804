/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlclose, seen on its way: functions of what it unmaps have an id no more, since others may come to lie there. In the
 * archive this is a member of its own, so that programs which never call dlclose need nothing of it.
 */
#include "runtime/rt_recorder.h"

#include <dlfcn.h>

RT_PLAIN __attribute__((visibility("default"))) int dlclose(void *handle) {
    int (*next)(void *);
    *(void **)(void *)&next = dlsym(RTLD_NEXT, "dlclose");
    const int result = next ? next(handle) : -1;
    rt_objects_check();
    return result;
}
