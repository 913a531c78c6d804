/* SPDX-License-Identifier: Apache-2.0 */
/* A library with callbacks. Its functions have frames of different sizes, so that an unwinder cannot reuse the rule of
   one for another. */
#ifndef ROOM
#define ROOM 100
#endif
void call_back(void (*function)(void));
void call_back(void (*function)(void)) {
    volatile char room[ROOM];
    room[0] = 1;
    function();
    room[ROOM - 1] = room[0];
}
