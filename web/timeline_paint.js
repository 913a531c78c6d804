// SPDX-License-Identifier: Apache-2.0
// Paints one thread of a timeline: samples as density, below them its states (running, runnable,
// blocked, with the reason), then calls as spans by depth; logged events and losses on top.
import {firstEndingAfter, Pyramid} from './pyramid.js';
import {BLOCKED, REASONS, RUNNABLE, RUNNING, STATES, stateOfKind, UNKNOWN} from './waits.js';
import {lowerBound} from './weights.js';

export const SAMPLES_HEIGHT = 26;
export const LANE = 7;
const STATES_HEIGHT = 7;
const BY_REASON = 16; // states below it, then reasons of blocked intervals
const LANES_MOST = 8;
const MARK_WIDTH = 3;
const FLAG_WIDTH = 5;
const CROWDED = 2; // a pixel with this many times the average number of samples has the full height

export class ThreadPainter {
    constructor(app) {
        this.app = app;
        this.pyramids = new Map();
        this.lanes = new Map();
        this.sums = new Float64Array(BY_REASON + REASONS.length);
        this.states = this.sums.subarray(0, STATES.length);
        this.reasons = this.sums.subarray(BY_REASON);
    }

    // --- Height of a thread.

    lanesOf(thread) {
        const {calls} = this.app.data;
        if (calls.ranges[thread] === calls.ranges[thread + 1]) return 0;
        if (!this.lanes.has(thread)) {
            let deepest = 0;
            for (let i = calls.ranges[thread]; i < calls.ranges[thread + 1]; i++) deepest = Math.max(deepest, calls.depth[i]);
            this.lanes.set(thread, Math.min(deepest + 1, LANES_MOST));
        }
        return this.lanes.get(thread);
    }
    hasSamples(thread) {
        const {ranges} = this.app.data.samples;
        return ranges[thread] < ranges[thread + 1];
    }
    hasStates(thread) {
        const {ranges} = this.app.data.intervals;
        return ranges[thread] < ranges[thread + 1];
    }
    callsTop(thread) {
        return (this.hasSamples(thread) ? SAMPLES_HEIGHT : 0) + (this.hasStates(thread) ? STATES_HEIGHT : 0);
    }
    heightOf(thread) {
        return Math.max(20, this.callsTop(thread) + this.lanesOf(thread) * LANE) + 4;
    }
    pyramidOf(thread) {
        if (!this.pyramids.has(thread)) this.pyramids.set(thread, new Pyramid(this.app.data.calls, thread, LANES_MOST));
        return this.pyramids.get(thread);
    }

    // --- Painting. `view` is {context, begin, end, width, colours}; begin and end are the times at its left and right
    // edges.

    paint(thread, y, tall, view) {
        const {state} = this.app;
        view.context.globalAlpha = state.threads && !state.threads.has(thread) ? 0.3 : 1;
        if (this.hasSamples(thread)) this.paintSamples(thread, y, view);
        if (!this.hasStates(thread) && !this.lanesOf(thread)) this.paintLife(thread, y + tall - 5, view);
        if (this.hasStates(thread)) this.paintStates(thread, y + (this.hasSamples(thread) ? SAMPLES_HEIGHT : 0), view);
        this.paintCalls(thread, y + this.callsTop(thread), view);
        view.context.globalAlpha = 1;
        this.paintMarks(thread, y, tall, view);
    }
    xOf(time, view) { return (time - view.begin) / (view.end - view.begin) * view.width; }

    // A line from the thread's start to its end, which makes idle threads visible.
    paintLife(thread, y, view) {
        const {begin, end} = this.app.lifeOf(thread), from = Math.max(0, this.xOf(begin, view)), to = Math.min(view.width, this.xOf(end, view));
        view.context.fillStyle = view.colours.mute;
        if (to > from) view.context.fillRect(from, y, to - from, 1);
    }
    // Draws the samples of each pixel as a column. A bisection finds the first sample of each pixel, so the others are
    // not visited.
    paintSamples(thread, y, {context, begin, end, width, colours}) {
        const {time, ranges} = this.app.data.samples, last = ranges[thread + 1], perPixel = (end - begin) / width;
        const lasted = Math.max(time[last - 1] - time[ranges[thread]], perPixel), full = Math.max(1, CROWDED * (last - ranges[thread]) * perPixel / lasted);
        context.fillStyle = colours.acc;
        for (let i = lowerBound(time, ranges[thread], last, begin); i < last && time[i] < end;) {
            const x = Math.floor((time[i] - begin) / perPixel), next = lowerBound(time, i + 1, last, begin + (x + 1) * perPixel);
            const tall = Math.max(3, (SAMPLES_HEIGHT - 4) * Math.min(1, (next - i) / full));
            context.fillRect(x, y + SAMPLES_HEIGHT - 2 - tall, 1, tall);
            i = next;
        }
    }
    // Running is drawn at full height, runnable at half height, blocked as a line in the colour of its reason; unknown is not drawn. Intervals that
    // are too short to distinguish are drawn as one, in the state with most of their time, and the reason with most of it.
    paintStates(thread, y, view) {
        const {start, end, ranges} = this.app.data.intervals, to = ranges[thread + 1], least = (view.end - view.begin) / view.width / 2;
        for (let i = Math.max(ranges[thread], lowerBound(start, ranges[thread], to, view.begin) - 1); i < to && start[i] < view.end;) {
            const next = this.endOfCrowd(i, to, least), x = this.xOf(start[i], view);
            this.paintState(this.mainState(i, next), x, y, Math.max(0.5, this.xOf(end[next - 1], view) - x), view);
            i = next;
        }
    }
    endOfCrowd(from, to, least) {
        const {start, end} = this.app.data.intervals;
        let next = from + 1;
        while (next < to && end[next] - start[from] < least) next++;
        return next;
    }
    mainState(from, to) {
        if (to === from + 1) return this.codeOf(from);
        const {start, end} = this.app.data.intervals, {sums, states, reasons} = this;
        sums.fill(0);
        for (let i = from; i < to; i++) {
            const code = this.codeOf(i);
            sums[code] += end[i] - start[i];
            if (code >= BY_REASON) sums[BLOCKED] += end[i] - start[i];
        }
        const state = states.indexOf(Math.max(...states)), longest = Math.max(...reasons);
        return state === BLOCKED && longest > 0 ? BY_REASON + reasons.indexOf(longest) : state;
    }
    // The state of an interval, or its reason if it is blocked and the page tells the reason.
    codeOf(i) {
        const {kind, wait} = this.app.data.intervals, state = stateOfKind(kind[i]);
        return state === BLOCKED && wait ? BY_REASON + this.app.data.waits.reason[wait[i]] : state;
    }
    nameOf(code) { return code < BY_REASON ? STATES[code] : REASONS[code - BY_REASON] || 'other'; }
    colourOf(code, colours) {
        return code >= BY_REASON ? colours[this.nameOf(code)] : {[RUNNING]: colours.run, [RUNNABLE]: colours.warn, [BLOCKED]: colours.mute}[code] || null;
    }
    // [name, colour] of the states, losses and events that the timeline has.
    legend() {
        const {intervals, waits} = this.app.data, {marks} = this.app, colours = this.app.themeColours();
        if (!this.codes) {
            const reasons = intervals.wait ? new Set(waits.reason.filter((_, i) => waits.state[i] === BLOCKED)) : new Set();
            this.codes = intervals.start.length ? [RUNNING, RUNNABLE, ...(intervals.wait ? [...reasons].sort((a, b) => a - b).map((reason) => BY_REASON + reason) : [BLOCKED])] : [];
        }
        return [...this.codes.map((code) => [this.nameOf(code), this.colourOf(code, colours)]), ...(marks.count > marks.logged ? [['loss', colours.fg]] : []), ...(marks.logged ? [['event', colours.new]] : [])];
    }
    paintState(state, x, y, width, {context, colours}) {
        if (state === UNKNOWN) return;
        const [top, tall] = {[RUNNING]: [0, STATES_HEIGHT - 2], [RUNNABLE]: [2, STATES_HEIGHT - 4]}[state] || [STATES_HEIGHT - 4, 2];
        context.fillStyle = this.colourOf(state, colours);
        context.fillRect(x, y + top, width, tall);
    }
    paintCalls(thread, y, view) {
        const lanes = this.lanesOf(thread);
        if (!lanes) return;
        const perPixel = (view.end - view.begin) / view.width, pyramid = this.pyramidOf(thread);
        for (let depth = 0; depth < lanes; depth++) this.paintLane(pyramid.rowFor(depth, perPixel), y + depth * LANE, view);
    }
    paintLane(row, y, view) {
        const {context, begin, end, width} = view, colours = this.app.colours(), scale = width / (end - begin);
        let style = null;
        for (let i = firstEndingAfter(row, begin); i < row.start.length && row.start[i] < end; i++) {
            const x = (row.start[i] - begin) * scale, stop = (row.end[i] - begin) * scale;
            const fill = row.func[i] < 0 ? view.colours.mute : colours.of(row.func[i]).fill;
            if (fill !== style) context.fillStyle = style = fill;
            context.fillRect(x, y, Math.max(1, stop - x - (stop - x > 3 ? 1 : 0)), LANE - 1);
        }
    }
    // Logged events are thin lines with a flag, losses are bars on top of them.
    paintMarks(thread, y, tall, view) {
        this.paintMarksOf(thread, true, view, (x) => {
            view.context.fillRect(x, y, 1, tall - 3);
            view.context.fillRect(x, y, FLAG_WIDTH, FLAG_WIDTH);
        });
        this.paintMarksOf(thread, false, view, (x) => view.context.fillRect(x - 1, y, MARK_WIDTH, tall - 3));
    }
    paintMarksOf(thread, logged, view, paint) {
        const {marks} = this.app;
        let before = -MARK_WIDTH;
        view.context.fillStyle = logged ? view.colours.new : view.colours.fg;
        for (const i of marks.ofThread(thread)) {
            const time = marks.time[i], x = this.xOf(time, view);
            if (marks.isLogged(i) !== logged || time < view.begin || time > view.end || x - before < 1) continue;
            paint(x);
            before = x;
        }
    }
    // "running", "runnable", "blocked: lock" or "unknown" at a time; '' outside of its intervals.
    stateAt(thread, time) {
        const {start, end, kind, ranges} = this.app.data.intervals, from = ranges[thread];
        const i = lowerBound(start, from, ranges[thread + 1], time + 1) - 1;
        if (i < from || time >= end[i]) return '';
        const code = this.codeOf(i), state = STATES[stateOfKind(kind[i])];
        return code < BY_REASON ? state : `${state}: ${this.nameOf(code)}`;
    }
}
