/* SPDX-License-Identifier: Apache-2.0 */
/* The id of a recording: a hash of its bytes, after decompression if the file is compressed as a whole. */
#include "file/read/recording.h"
#include "store/store_push.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#define PIECE ((size_t)64 << 10)

static pfr_status hash_part(XXH3_state_t *state, struct part *part, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    if (!part->open || input_size(&part->in) == 0)
        return PFR_OK;
    if (!part->in.seekable)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "spool",
                        "a stream is read more than once: it must be opened with spool");
    for (uint64_t at = 0;; at += have) {
        PFR_TRY(input_window(&part->in, at, PIECE, &bytes, &have, err));
        if (have == 0)
            return PFR_OK;
        XXH3_128bits_update(state, bytes, have);
    }
}

pfr_status store_content(pfr_reader *reader, char text[33], uint64_t *id, pfr_error *err) {
    XXH3_state_t *state = XXH3_createState();
    pfr_status st = state ? PFR_OK : pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "store", "no memory");
    if (st >= 0)
        XXH3_128bits_reset(state);
    for (uint32_t i = 0; st >= 0 && i < reader->nr_parts; i++)
        st = hash_part(state, &reader->parts[i], err);
    const XXH128_hash_t hash = st >= 0 ? XXH3_128bits_digest(state) : (XXH128_hash_t){0, 0};
    XXH3_freeState(state);
    snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64, (uint64_t)hash.low64);
    *id = hash.high64 ? hash.high64 : 1;
    return st < 0 ? st : PFR_OK;
}
