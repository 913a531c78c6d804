/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from the recorder to its caller. */
#include <stdarg.h>
#include <stdio.h>
#include "record/rings/recorder_note.h"

void recorder_note(const pfr_recorder *r, const char *format, ...) {
    char sentence[400];
    va_list arguments;
    if (!r->options.note)
        return;
    va_start(arguments, format);
    if (vsnprintf(sentence, sizeof sentence, format, arguments) >= 0)
        r->options.note(r->options.context, sentence);
    va_end(arguments);
}
