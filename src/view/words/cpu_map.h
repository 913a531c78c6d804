/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_CPU_MAP_H
#define PFR_VIEW_CPU_MAP_H
/*
 * The cpus that a CPU_MAP names, whichever form it has: a list, a mask of 32 or 64 bits a word, or a range.
 *
 *     cpu_map_each(&map->data, add_cpu, &list);
 */
#include <perfray/error.h>
#include <perfray/record.h>
#include <perfray/record_structs.h>

/* -1: any cpu. What is less than 0 ends the walk. */
typedef pfr_status cpu_map_take(void *context, int64_t cpu);

/* In the order of the map. PFR_OK, or what `take` gave. */
pfr_status cpu_map_each(const struct pfr_rec_cpu_map_data *data, cpu_map_take *take, void *context);

#endif
