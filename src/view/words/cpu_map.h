/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_CPU_MAP_H
#define PFR_VIEW_CPU_MAP_H
/*
 * Iterates over the CPUs in a CPU_MAP of any form: list, mask with words of 32 or 64 bits, or range.
 *
 *     cpu_map_each(&map->data, add_cpu, &list);
 */
#include <perfray/error.h>
#include <perfray/record.h>
#include <perfray/record_structs.h>

/* Called for each CPU; -1 means any CPU. A negative status ends the iteration. */
typedef pfr_status cpu_map_take(void *context, int64_t cpu);

/* Calls `take` for each CPU, in the order of the map. Returns PFR_OK, or the negative status that `take` returned. */
pfr_status cpu_map_each(const struct pfr_rec_cpu_map_data *data, cpu_map_take *take, void *context);

#endif
