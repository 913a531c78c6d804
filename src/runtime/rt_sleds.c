/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks loaded objects with sleds, and patches them when recording starts or stops and after an object was loaded
 * (rt_loads.c). One thread patches at a time and also serves requests that other threads make meanwhile, so pfr_rt_stop
 * may be called in a signal handler. Nothing is patched while an object is being unloaded.
 */
#include "runtime/rt_objects.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_start.h"
#include "runtime/rt_sleds.h"

#include <sched.h>

#define OBJECTS 1024u

static struct rt_sled_object objects[OBJECTS];
static uint32_t nr_objects, looks;
static uint32_t patching, closing, asked, served;
static bool wants_look, was_said;

RT_PLAIN static void patch(struct rt_sled_object *o, bool on) {
    const char *why = o->map && o->is_on != on ? rt_sled_patch(o, on) : NULL;
    if (why && !was_said)
        rt_say("functions of an object with XRay's sleds are not recorded", why);
    was_said |= why != NULL;
}

RT_PLAIN static struct rt_sled_object *known_object(const struct rt_sled_object *like) {
    for (uint32_t i = 0; i < nr_objects; i++)
        if (objects[i].base == like->base && objects[i].start == like->start && objects[i].end == like->end)
            return &objects[i];
    return NULL;
}

/* Reads the sleds of a new object and patches them. Called by dl_iterate_phdr, during which glibc unloads no object. */
RT_PLAIN static int see_object(struct dl_phdr_info *info, size_t size, void *unused) {
    struct rt_sled_object found;
    (void)size;
    (void)unused;
    rt_zero(&found, sizeof found);
    found.base = info->dlpi_addr;
    rt_sled_map_place(&found, info);
    struct rt_sled_object *o = known_object(&found);
    if (!o && nr_objects < OBJECTS) {
        rt_sled_map_find(&found, info);
        o = &objects[nr_objects++];
        rt_copy(o, &found, sizeof found);
    }
    if (!o)
        return 1;
    o->seen = looks;
    patch(o, __atomic_load_n(&rt.wanted, __ATOMIC_ACQUIRE));
    return 0;
}

RT_PLAIN static void look(void) {
    looks++;
    dl_iterate_phdr(see_object, NULL);
    for (uint32_t i = nr_objects; i-- > 0;)
        if (objects[i].seen != looks)
            rt_copy(&objects[i], &objects[--nr_objects], sizeof objects[i]);
}

/* Searches for objects only if a search was requested. Turning sleds off needs no search, so a signal handler may do
 * it. */
RT_PLAIN static void serve(void) {
    if (__atomic_exchange_n(&wants_look, false, __ATOMIC_ACQ_REL)) {
        look();
        return;
    }
    for (uint32_t i = 0; i < nr_objects; i++)
        patch(&objects[i], __atomic_load_n(&rt.wanted, __ATOMIC_ACQUIRE));
}

RT_PLAIN static bool try_serve(void) {
    uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&patching, &free, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return false;
    const uint32_t now = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);
    const bool may = __atomic_load_n(&closing, __ATOMIC_SEQ_CST) == 0;
    if (may)
        serve();
    if (may)
        __atomic_store_n(&served, now, __ATOMIC_SEQ_CST);
    __atomic_store_n(&patching, 0, __ATOMIC_SEQ_CST);
    return may;
}

RT_RARE void rt_sleds_apply(bool with_look) {
    if (with_look)
        __atomic_store_n(&wants_look, true, __ATOMIC_RELEASE);
    const uint32_t mine = __atomic_add_fetch(&asked, 1, __ATOMIC_SEQ_CST);
    while (try_serve() && __atomic_load_n(&served, __ATOMIC_SEQ_CST) != __atomic_load_n(&asked, __ATOMIC_SEQ_CST))
        ;
    while (with_look && __atomic_load_n(&closing, __ATOMIC_SEQ_CST) == 0 &&
           (int32_t)(__atomic_load_n(&served, __ATOMIC_SEQ_CST) - mine) < 0)
        if (!try_serve())
            RT_CALL3(SYS_sched_yield, 0, 0, 0);
}

RT_RARE void rt_sleds_forked(void) {
    patching = closing = 0;
}

/* --- Calls around loading and unloading of objects. */

RT_RARE void rt_loaded(void) {
    rt_revive(&rt_here);
    if (rt.control && __atomic_load_n(&rt.wanted, __ATOMIC_ACQUIRE))
        rt_sleds_apply(true);
}

RT_RARE void rt_unloading(void) {
    __atomic_fetch_add(&closing, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&patching, __ATOMIC_SEQ_CST))
        RT_CALL3(SYS_sched_yield, 0, 0, 0);
}

RT_RARE void rt_unloaded(void) {
    rt_revive(&rt_here);
    rt_objects_check();
    if (__atomic_sub_fetch(&closing, 1, __ATOMIC_SEQ_CST) == 0 && rt.control)
        rt_sleds_apply(true);
}
