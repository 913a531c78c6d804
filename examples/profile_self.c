/* SPDX-License-Identifier: Apache-2.0 */
/* Samples a part of its own run: profile_self OUT. Show the result with perfray report OUT. */
#include <perfray/sampling.h>
#include <stdio.h>

__attribute__((noinline)) static unsigned long work(unsigned long rounds) {
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < rounds; i++)
        sum = sum * 31 + i;
    return sum;
}

int main(int argc, char **argv) {
    pfr_error err = {.text = "profile_self OUT"};
    const pfr_recorder_options options = {
        .size = sizeof options, .self = true, .output = argc == 2 ? argv[1] : NULL, .frequency = 997};
    pfr_recorder *const recorder = argc == 2 ? pfr_recorder_open(&options, &err) : NULL;
    int failed = !recorder || pfr_recorder_begin(recorder, &err) < 0;
    if (!failed) {
        work(200000000);
        failed = pfr_recorder_end(recorder, &err) < 0;
    }
    pfr_recorder_close(recorder);
    if (failed)
        fprintf(stderr, "%s\n", err.text);
    return failed;
}
