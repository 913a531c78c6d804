/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_STAT_H
#define PFR_VIEW_SCRIPT_STAT_H
/*
 * The table that `perf script` prints for recordings of `perf stat record`: at each STAT_ROUND a line for every event,
 * thread and cpu.
 *
 *     CPU   THREAD             VAL             ENA             RUN            TIME EVENT
 *      -1      295        54588967        54643353        54643353       210916259 cpu-clock
 *
 * It is fed every record in the order of the file; it takes those that it knows (THREAD_MAP, CPU_MAP, STAT_CONFIG,
 * STAT, STAT_ROUND, EVENT_UPDATE) and prints by itself when a round ends:
 *
 *     struct script_stat *stat;
 *     PFR_TRY(script_stat_open(&stat, reader, &memory, err));
 *     while ((st = pfr_next(reader, &rec, err)) == PFR_OK)
 *         if (script_stat_take(stat, &rec, out, &why) == PFR_HOLE)
 *             ... tell why
 *     script_stat_close(stat);
 *
 * What perf does, and so does this: the first CPU_MAP and THREAD_MAP count; an event has cpus of its own when an
 * EVENT_UPDATE said so before both were there; a count stays until the next STAT of its place. Counts of mode global
 * are printed as recorded, those of other modes (-A, --per-socket, ...) as the growth since the round before. Where
 * perf stops (a cpu or thread that the maps do not have) the STAT is left out.
 */
#include <perfray/out.h>
#include <perfray/reader.h>

struct memory;
struct script_stat;

/* Lines that no STAT of their round stands behind, in all of one recording: a map of many cpus costs no more. */
#define SCRIPT_STAT_IDLE_MOST ((uint64_t)1 << 17)

/* PFR_OK, MEMORY, LIMIT. The reader and the memory must outlive it. */
pfr_status script_stat_open(struct script_stat **stat, pfr_reader *reader, struct memory *memory, pfr_error *err);
/* From now on a JSON object a line for each count, and no heading. */
void script_stat_as_json(struct script_stat *stat);
/* NULL is fine. */
void script_stat_close(struct script_stat *stat);

/* PFR_OK, also for records that it does not know; PFR_HOLE: a STAT of no known event, cpu or thread; less than 0:
   MEMORY, LIMIT. */
pfr_status script_stat_take(struct script_stat *stat, const pfr_record *rec, pfr_output *out, pfr_error *err);

#endif
