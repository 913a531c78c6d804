/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the sleds of one object on and off while other threads run its functions. A sled that is off begins with a jump
 * over its body (or is a `ret`). So no thread executes the body, and the body can be written:
 *
 *  eb 09 ....                      jmp over nine bytes; at an exit c3, ret
 *  41 ba <word> e8 <to an island>  mov word, %r10d; call; at an exit e9, jmp
 *
 * First all bodies are written. Then every core discards instructions that it has already fetched from the bodies
 * (membarrier). Then one aligned store of two bytes turns each sled on. To turn a sled off, only these two bytes are
 * restored, and a thread inside the body continues there. <word> is the word of the function (rt_functions.c): its id
 * and filter flags. Functions that filters exclude are never patched.
 */
#include "runtime/rt_functions.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_sleds.h"

#include <linux/membarrier.h>
#include <sys/mman.h>

#if defined __x86_64__

#define JUMP_9 0x09ebu
#define JUMP_15 0x0febu
#define JUMP_20 0x14ebu
#define RETURN 0xc3
#define MOVE_R10 0xba41u
#define NOP_2 0x9066u
#define CALL 0xe8
#define JUMP 0xe9
#define SLED_SIZE 11u

typedef uint16_t __attribute__((may_alias)) head_of_sled;

struct sled_place {
    uint8_t *at;
    unsigned kind, version;
    uint64_t function;
};

RT_PLAIN static bool is_event(const struct sled_place *p) {
    return p->kind >= RT_SLED_CUSTOM;
}

RT_PLAIN static uint16_t head_off(const struct sled_place *p) {
    if (p->kind == RT_SLED_TYPED || (p->kind == RT_SLED_CUSTOM && p->version == 0))
        return JUMP_20;
    return p->kind == RT_SLED_CUSTOM ? JUMP_15 : JUMP_9;
}

RT_PLAIN static bool is_off(const struct sled_place *p) {
    return p->kind == RT_SLED_EXIT ? p->at[0] == RETURN : *(const rt_u16 *)p->at == head_off(p);
}

RT_PLAIN static uint64_t target_of(const struct rt_sled_object *o, unsigned kind) {
    return o->island + (uint64_t)kind * RT_ISLAND_JUMP;
}

RT_PLAIN static uint32_t away_of(const uint8_t *sled, uint64_t target) {
    return (uint32_t)(target - (uint64_t)(uintptr_t)(sled + SLED_SIZE));
}

/* --- Bodies. */

/* The hook that a function's sled calls. */
RT_PLAIN static unsigned way_of(const struct sled_place *p, uint32_t word) {
    return p->kind == RT_SLED_ENTER && word & RT_ARGUMENT ? RT_SLED_ARGUMENT : p->kind;
}

RT_PLAIN static void write_body(const struct rt_sled_object *o, const struct sled_place *p) {
    const uint32_t word = rt_find(p->function);
    if (word == RT_LOST)
        rt_lose(RTF_TABLE);
    if (word & RT_SKIP)
        return;
    *(rt_u32 *)(p->at + 2) = word;
    p->at[6] = p->kind == RT_SLED_EXIT ? JUMP : CALL;
    *(rt_u32 *)(p->at + 7) = away_of(p->at, target_of(o, way_of(p, word)));
}

RT_PLAIN static bool is_skipped(const struct sled_place *p) {
    return rt_find(p->function) & RT_SKIP;
}

RT_PLAIN static void prepare(const struct rt_sled_object *o, const struct sled_place *p) {
    if (is_off(p) && is_event(p) && !is_skipped(p))
        rt_event_prepare(p->at, p->at[1], target_of(o, p->kind));
    else if (is_off(p) && !is_event(p))
        write_body(o, p);
}

/* --- Heads. */

RT_PLAIN static void store_head(const struct sled_place *p, uint16_t head) {
    __atomic_store_n((head_of_sled *)p->at, head, __ATOMIC_RELEASE);
}

RT_PLAIN static void turn_on(const struct rt_sled_object *o, const struct sled_place *p) {
    if (!is_off(p) || is_skipped(p))
        return;
    if (!is_event(p))
        store_head(p, MOVE_R10);
    else if (rt_event_prepare(p->at, p->at[1], target_of(o, p->kind)))
        store_head(p, NOP_2);
    else
        rt_lose(RTF_SLED);
}

/* False if another runtime turned the sled on, so that the sled's call goes elsewhere. */
RT_PLAIN static bool is_ours(const struct rt_sled_object *o, const struct sled_place *p) {
    if (is_event(p))
        return *(const rt_u16 *)p->at == NOP_2;
    const uint32_t away = *(const rt_u32 *)(p->at + 7);
    return *(const rt_u16 *)p->at == MOVE_R10 &&
           (away == away_of(p->at, target_of(o, p->kind)) || away == away_of(p->at, target_of(o, RT_SLED_ARGUMENT)));
}

RT_PLAIN static void turn_off(const struct rt_sled_object *o, const struct sled_place *p) {
    if (!is_ours(o, p))
        return;
    if (p->kind == RT_SLED_EXIT)
        __atomic_store_n(p->at, RETURN, __ATOMIC_RELEASE);
    else
        store_head(p, head_off(p));
}

/* --- All sleds of an object. */

RT_PLAIN static void each(const struct rt_sled_object *o,
                          void (*visit)(const struct rt_sled_object *, const struct sled_place *)) {
    struct rt_sled sled;
    for (uint64_t i = 0; i < o->count; i++) {
        if (!rt_sled_at(o, i, &sled))
            continue;
        const struct sled_place place = {(uint8_t *)(uintptr_t)sled.at, sled.kind, sled.version, sled.function};
        visit(o, &place);
    }
}

RT_PLAIN static bool protect(const struct rt_sled_object *o, int more) {
    for (unsigned i = 0; i < o->nr_codes; i++)
        if (RT_CALL3(SYS_mprotect, o->codes[i].start, o->codes[i].end - o->codes[i].start,
                     o->codes[i].protection | more) < 0)
            return false;
    return true;
}

/* Registers each time, because a forked child is not registered. Kernels without this command serialize cores on return
 * from mprotect. */
RT_PLAIN static void make_cores_read_again(void) {
    RT_CALL3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
    RT_CALL3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

RT_RARE const char *rt_sled_patch(struct rt_sled_object *o, bool on) {
    if (on && !o->island)
        o->island = rt_island_near(o->start, o->end);
    if (!o->island)
        return "there is no room within two GiB of the code";
    if (!protect(o, PROT_WRITE)) {
        protect(o, 0);
        return "the system does not allow writing to code (mprotect)";
    }
    if (on) {
        each(o, prepare);
        make_cores_read_again();
    }
    each(o, on ? turn_on : turn_off);
    protect(o, 0);
    o->is_on = on;
    return NULL;
}

#else

const char *rt_sled_patch(struct rt_sled_object *o, bool on) {
    (void)o;
    (void)on;
    return "sleds of this architecture are not supported";
}

#endif
