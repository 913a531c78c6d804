/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one file of a recording for writing. */
#include "file/write/writer_part_open.h"
#include "file/write/deflate.h"

/* Opens the part's output, and its compressor if it has one. On failure an owned descriptor is closed. */
pfr_status part_open(pfr_writer *w, int fd, bool owned, uint32_t number, pfr_error *err) {
    struct written_part *p = &w->folder.parts[w->folder.nr_parts];
    *p = (struct written_part){.number = number};
    PFR_TRY(out_open_fd(&p->out, fd, owned, &w->memory, NULL, err));
    w->folder.part = w->folder.nr_parts++;
    w->folder.parts_made = w->folder.nr_parts;
    return w->compression == PFR_PLAIN || (w->container == PFR_DIRECTORY && number == 0)
               ? PFR_OK
               : deflate_open(w, &p->deflater, err);
}
