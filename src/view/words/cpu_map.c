/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of a CPU_MAP: see cpu_map.h. */
#include "view/words/cpu_map.h"

#include "base/memory/fail.h"
#include "wire/layout.h"

/* The function that receives the cpus, and its context. */
struct taker {
    cpu_map_take *take;
    void *context;
};

static pfr_status take_list(const struct taker *to, const struct pfr_rec_cpu_map_cpus *map) {
    struct pfr_rec_cpu_u16 cpu;
    pfr_items_iter it = pfr_items_begin(&map->cpus);
    while (pfr_items_next(&it, &cpu, sizeof cpu, NULL) == PFR_OK)
        PFR_TRY(to->take(to->context, cpu.cpu == UINT16_MAX ? -1 : cpu.cpu));
    return PFR_OK;
}

static pfr_status take_bits(const struct taker *to, int64_t first, uint64_t word) {
    for (; word; word &= word - 1)
        PFR_TRY(to->take(to->context, first + __builtin_ctzll(word)));
    return PFR_OK;
}

static pfr_status take_mask(const struct taker *to, const pfr_items *mask) {
    union {
        struct pfr_rec_cpu_mask_4 small;
        struct pfr_rec_cpu_mask_8 large;
    } m;
    struct pfr_rec_mask_u32 half;
    struct pfr_rec_mask_u64 word;
    const bool large = mask->of == L_cpu_mask_8;
    pfr_items_iter it = pfr_items_begin(mask);
    if (pfr_items_next(&it, &m, large ? sizeof m.large : sizeof m.small, NULL) != PFR_OK)
        return PFR_OK;
    it = pfr_items_begin(large ? &m.large.words : &m.small.words);
    for (int64_t cpu = 0; large && pfr_items_next(&it, &word, sizeof word, NULL) == PFR_OK; cpu += 64)
        PFR_TRY(take_bits(to, cpu, word.mask));
    for (int64_t cpu = 0; !large && pfr_items_next(&it, &half, sizeof half, NULL) == PFR_OK; cpu += 32)
        PFR_TRY(take_bits(to, cpu, half.mask));
    return PFR_OK;
}

static pfr_status take_range(const struct taker *to, const struct pfr_rec_cpu_map_range *map) {
    if (map->any_cpu)
        PFR_TRY(to->take(to->context, -1));
    for (int64_t cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
        PFR_TRY(to->take(to->context, cpu));
    return PFR_OK;
}

pfr_status cpu_map_each(const struct pfr_rec_cpu_map_data *data, cpu_map_take *take, void *context) {
    const struct taker to = {take, context};
    union {
        struct pfr_rec_cpu_map_cpus cpus;
        struct pfr_rec_cpu_map_mask mask;
        struct pfr_rec_cpu_map_range range;
    } map;
    pfr_items_iter it = pfr_items_begin(&data->map);
    if (data->map.of == L_cpu_map_cpus && pfr_items_next(&it, &map, sizeof map.cpus, NULL) == PFR_OK)
        return take_list(&to, &map.cpus);
    if (data->map.of == L_cpu_map_mask && pfr_items_next(&it, &map, sizeof map.mask, NULL) == PFR_OK)
        return take_mask(&to, &map.mask.mask);
    if (data->map.of == L_cpu_map_range && pfr_items_next(&it, &map, sizeof map.range, NULL) == PFR_OK)
        return take_range(&to, &map.range);
    return PFR_OK;
}
