/* SPDX-License-Identifier: Apache-2.0 */
/* Loads capstone once per process. */
#include "symbol/disasm/capstone_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define TEXT_OF(number) #number
#define LIBRARY_OF(major) "libcapstone.so." TEXT_OF(major) /* structures differ between major versions */

static struct capstone_api api;
static bool is_there;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    is_there = is_there && found;
    memcpy(to, &found, sizeof found);
}

static void load(void) {
    void *library = dlopen(LIBRARY_OF(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
    is_there = library != NULL;
    if (!library)
        return;
#define CAPSTONE_FIND(name) find(library, #name, &api.p_##name);
    CAPSTONE_FUNCTIONS(CAPSTONE_FIND)
#undef CAPSTONE_FIND
}

const struct capstone_api *capstone_api_load(void) {
    pthread_once(&once, load);
    return is_there ? &api : NULL;
}
