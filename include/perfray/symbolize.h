/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SYMBOLIZE_H
#define PERFRAY_SYMBOLIZE_H
/*
 * What an address of a recording means: the object, symbol and line that a thread had there at a time. For addresses
 * that are in no stack: data addresses, branches, registers, code that a tool prints itself. By the same maps and the
 * same naming as the model's own frames.
 *
 * A symbolizer belongs to one thread at a time; several on one model share nothing that changes.
 *
 * Example:
 *
 *     pfr_symbolizer *s = pfr_symbolizer_open(model, &err);
 *     pfr_place place;
 *     if (pfr_symbolize(s, pid, tid, PFR_CPUMODE_USER, time, addr, &place, &err) == PFR_OK && place.name)
 *         printf("%s+%#" PRIx64 "\n", place.name, place.address - place.start);
 *     pfr_symbolizer_close(s);
 */
#include <perfray/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_symbolizer pfr_symbolizer;

typedef struct pfr_place {
    uint32_t object;      /* id in the model; 0: no map covers the address, or the model has no frame of its object */
    const char *path;     /* of the object; NULL: no map covers the address */
    const char *name;     /* of the symbol; NULL: unnamed */
    const char *mangled;  /* as the object has it; NULL: no name */
    uint64_t address;     /* in the object's file; in the kernel and in anonymous memory that of the process */
    uint64_t start, size; /* of the symbol; 0: not known */
    const char *file;     /* source file; NULL: not known, or the model was opened without `lines` */
    uint32_t line;        /* 0: not known */
} pfr_place;

/* With the options of the model. NULL, with *err: USAGE (a built model, a trace: they have no maps), MEMORY, LIMIT. */
pfr_symbolizer *pfr_symbolizer_open(const pfr_model *model, pfr_error *err);
/* `mode`: PFR_CPUMODE_*; time PFR_NO_TIME: the end of the recording. The texts of *place live until
   pfr_symbolizer_close. PFR_OK, also where nothing is known; MEMORY, LIMIT. */
pfr_status pfr_symbolize(pfr_symbolizer *symbolizer, uint32_t pid, uint32_t tid, unsigned mode, uint64_t time,
                         uint64_t address, pfr_place *place, pfr_error *err);
/* NULL is fine. */
void pfr_symbolizer_close(pfr_symbolizer *symbolizer);

#ifdef __cplusplus
}
#endif
#endif
