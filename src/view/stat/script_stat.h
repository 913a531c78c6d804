/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_STAT_H
#define PFR_VIEW_SCRIPT_STAT_H
/*
 * The table that `perf script` prints for recordings of `perf stat record`: at each STAT_ROUND, one line per event,
 * thread and CPU.
 *
 *     CPU   THREAD             VAL             ENA             RUN            TIME EVENT
 *      -1      295        54588967        54643353        54643353       210916259 cpu-clock
 *
 * The caller passes every record in file order. Records of the types THREAD_MAP, CPU_MAP, STAT_CONFIG, STAT, STAT_ROUND
 * and EVENT_UPDATE are used, and the table is printed at the end of each round:
 *
 *     struct script_stat *stat;
 *     PFR_TRY(script_stat_open(&stat, reader, &memory, err));
 *     while ((st = pfr_next(reader, &rec, err)) == PFR_OK)
 *         if (script_stat_take(stat, &rec, out, &why) == PFR_HOLE)
 *             ... report why
 *     script_stat_close(stat);
 *
 * The rules are those of perf: only the first CPU_MAP and THREAD_MAP are used; an event has its own CPUs if an
 * EVENT_UPDATE set them before both maps were present; a count remains until the next STAT of its place. Counts of mode
 * global are printed as recorded; counts of other modes (-A, --per-socket, ...) are printed as the difference to the
 * previous round. A STAT with a CPU or thread outside the maps is skipped, although perf stops at it.
 */
#include <perfray/out.h>
#include <perfray/reader.h>

struct memory;
struct script_stat;

/* Maximum number of lines without a STAT in their round, per recording: bounds the output for maps with many CPUs. */
#define SCRIPT_STAT_IDLE_MOST ((uint64_t)1 << 17)

/* Returns PFR_OK, MEMORY or LIMIT. The reader and the memory must outlive `stat`. */
pfr_status script_stat_open(struct script_stat **stat, pfr_reader *reader, struct memory *memory, pfr_error *err);
/* Switches to one JSON object per count, without headings. */
void script_stat_as_json(struct script_stat *stat);
/* `stat` may be NULL. */
void script_stat_close(struct script_stat *stat);

/* Returns PFR_OK, also for unknown records; PFR_HOLE for a STAT with an unknown event, CPU or thread; or a negative
 * status: MEMORY, LIMIT. */
pfr_status script_stat_take(struct script_stat *stat, const pfr_record *rec, pfr_output *out, pfr_error *err);

#endif
