/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SYMBOLIZE_H
#define PERFRAY_SYMBOLIZE_H
/*
 * Resolves an address of a recording to the object, symbol and line that it had in a thread at a given time. Use it for
 * addresses that are not in a stack: data addresses, branches, registers, or addresses that a tool prints itself.
 * Mappings and symbol options are those of the model's own frames.
 *
 * A symbolizer belongs to one thread at a time. Different symbolizers of one model can be used by different threads.
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
    uint32_t object;      /* id in the model; 0: no map covers the address, or the model has no frame in the object */
    const char *path;     /* path of the object; NULL: no map covers the address */
    const char *name;     /* name of the symbol; NULL: unnamed */
    const char *mangled;  /* its name in the symbol table; NULL: unnamed */
    uint64_t address;     /* address in the object's file; in the kernel and in anonymous memory, that of the process */
    uint64_t start, size; /* begin and size of the symbol; 0: not known */
    const char *file;     /* source file; NULL: not known, or the model was opened without `lines` */
    uint32_t line;        /* 0: not known */
} pfr_place;

/* Uses the options of the model. Returns NULL on failure: PFR_ERR_USAGE for a built model or a trace, which have no
   maps; PFR_ERR_MEMORY or PFR_ERR_LIMIT. */
pfr_symbolizer *pfr_symbolizer_open(const pfr_model *model, pfr_error *err);
/* Resolves one address. `mode` is PFR_CPUMODE_*; `time` PFR_NO_TIME is the end of the recording. The texts of *place
   are valid until pfr_symbolizer_close(). Returns PFR_OK, also if nothing is known about the address; PFR_ERR_MEMORY or
   PFR_ERR_LIMIT. */
pfr_status pfr_symbolize(pfr_symbolizer *symbolizer, uint32_t pid, uint32_t tid, unsigned mode, uint64_t time,
                         uint64_t address, pfr_place *place, pfr_error *err);
/* Closes the symbolizer. NULL is allowed. */
void pfr_symbolizer_close(pfr_symbolizer *symbolizer);

#ifdef __cplusplus
}
#endif
#endif
