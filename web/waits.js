// SPDX-License-Identifier: Apache-2.0
// States of threads over the whole recording, summed as in perfray offcpu: rows by thread, state, reason, function, line
// and waker. A selection of time has sums of its own, which have the same rows.
import {lowerBound} from './weights.js';
import {rankOf} from './thread_rows.js';

export const STATES = ['running', 'runnable', 'blocked', 'unknown'];
export const RUNNING = 0, RUNNABLE = 1, BLOCKED = 2, UNKNOWN = 3;
export const REASONS = ['', 'other', 'lock', 'pipe', 'socket', 'disk', 'timer', 'fault', 'child', 'signal']; // as pfr_wait_reason
const KINDS = [BLOCKED, RUNNABLE, RUNNABLE, RUNNING, UNKNOWN]; // states by pfr_interval_kind

export const stateOfKind = (kind) => KINDS[kind] ?? UNKNOWN;

// Columns by row. `condition`: of the waits for locks, those for condition variables. `line` is in the source file of `func` (0: not known); `inLibrary`: the stack ends in the C library, without
// the function that called it. `func`, `by` (function of the waker) and `waker` (thread) are −1 if not known; `open` is the part of
// `ns` in intervals that began before the recording or lasted beyond its end; `start` and `longest`: the longest interval.
export function readWaits(columns, EMPTY = new Uint32Array(0)) {
    const column = (name) => columns[`wait.${name}`] || EMPTY, lessOne = (name) => Int32Array.from(column(name), (value) => value - 1);
    return {count: column('thread').length, thread: column('thread'), state: column('state'), reason: column('reason'), func: lessOne('func'), waker: lessOne('waker'),
            by: lessOne('by'), line: column('line'), condition: column('condition'), inLibrary: column('in_library'), ns: column('ns'), open: column('open'), stacked: column('stacked'), library: column('library'), number: column('count'), longest: column('longest'), start: column('start')};
}

export const closedTime = (waits, i) => waits.ns[i] - waits.open[i];

// "runnable", or "blocked" by its reason: "lock".
export const causeOf = (waits, i) => waits.state[i] === BLOCKED ? REASONS[waits.reason[i]] || 'other' : STATES[waits.state[i]];

// The sums of the parts of all intervals that are in a range of time, with `number`, `longest` and `start` of these parts.
// null: the page does not tell which intervals a sum has.
export function waitsWithin(waits, {ranges, start, end, open, wait}, [from, to]) {
    if (!wait) return null;
    const made = {...waits};
    for (const name of ['ns', 'open', 'stacked', 'library', 'number', 'longest', 'start']) made[name] = new Float64Array(waits.count);
    for (let t = 0; t + 1 < ranges.length; t++) {
        for (let i = lowerBound(end, ranges[t], ranges[t + 1], from); i < ranges[t + 1] && start[i] < to; i++)
            addPart(made, waits, wait[i], Math.max(start[i], from), Math.min(end[i], to), open[i]);
    }
    return made;
}

// The page does not tell which intervals of a row have call chains: each has the share of the row.
function addPart(made, {ns: all, stacked, library}, row, begin, end, isOpen) {
    const ns = end - begin;
    if (ns <= 0) return;
    made.stacked[row] += ns * stacked[row] / all[row];
    made.library[row] += ns * library[row] / all[row];
    made.ns[row] += ns;
    made.open[row] += isOpen ? ns : 0;
    made.number[row]++;
    if (ns > made.longest[row]) [made.longest[row], made.start[row]] = [ns, begin];
}

// The sentence of `perfray offcpu` on call chains that end in the C library, for the chosen threads; null: they are few, or not known.
export function libraryNote({library_text: text, library_least: least}, waits, chosen) {
    let stacked = 0, library = 0;
    for (let i = 0; i < waits.stacked.length; i++) {
        if (chosen && !chosen.has(waits.thread[i])) continue;
        stacked += waits.stacked[i];
        library += waits.library[i];
    }
    return text && library > stacked / least ? `${(100 * library / stacked).toFixed(0)}% ${text}` : null;
}

// One row for each thread: {thread, wall, states, reasons, ended}: those of the recorded command first, then sorted by the
// time of waits that began and ended in the recording, longest first.
export function threadSums(waits, data = null) {
    const rows = new Map();
    for (let i = 0; i < waits.count; i++) {
        if (!waits.number[i]) continue; // not in the selected time
        const thread = waits.thread[i];
        if (!rows.has(thread)) rows.set(thread, {thread, wall: 0, states: [0, 0, 0, 0], reasons: new Map(), ended: 0});
        const row = rows.get(thread), state = waits.state[i];
        row.wall += waits.ns[i];
        row.states[state] += waits.ns[i];
        if (state === BLOCKED) row.reasons.set(causeOf(waits, i), (row.reasons.get(causeOf(waits, i)) || 0) + waits.ns[i]);
        if (state === BLOCKED || state === RUNNABLE) row.ended += closedTime(waits, i);
    }
    const rank = (row) => data ? rankOf(data, row.thread) : 0;
    return [...rows.values()].sort((a, b) => rank(a) - rank(b) || b.ended - a.ended || b.states[RUNNING] - a.states[RUNNING] || b.wall - a.wall || a.thread - b.thread);
}

// Parts of a thread's time in the order of the bar: [name, ns], without those that are 0.
export function partsOf(row) {
    const reasons = [...row.reasons].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return [['running', row.states[RUNNING]], ['runnable', row.states[RUNNABLE]], ...reasons, ['unknown', row.states[UNKNOWN]]].filter(([, ns]) => ns > 0);
}

// Waits by cause and function, the largest first: {cause, condition, func, ns, open, number, longest, start,
// thread, threads, wakers, lines}. `threads` has the time that each thread waited; `lines` are [line, ns]; both are sorted by
// this time. `thread`, `start`
// and `longest` describe the longest wait, which `waker` ended; `wakers` are [thread, function,
// ns], sorted by time waited. `chosen`: a set of threads, or null for all. Groups in which no wait
// began and ended in the recording come last.
export function groupsOfWaits(waits, chosen) {
    const groups = new Map();
    for (let i = 0; i < waits.count; i++) {
        if (!waits.number[i] || (waits.state[i] !== BLOCKED && waits.state[i] !== RUNNABLE) || (chosen && !chosen.has(waits.thread[i]))) continue;
        const key = `${causeOf(waits, i)} ${waits.func[i]}${waits.condition[i] ? ' condition' : ''}`;
        if (!groups.has(key)) groups.set(key, {key, cause: causeOf(waits, i), func: waits.func[i], ns: 0, open: 0, number: 0, longest: -1, start: 0, thread: -1, waker: -1, condition: Boolean(waits.condition[i]), inLibrary: Boolean(waits.inLibrary[i]), threads: new Map(), wakers: new Map(), lines: new Map()});
        addWait(groups.get(key), waits, i);
    }
    const rows = [...groups.values()];
    for (const row of rows) {
        row.wakers = [...row.wakers.values()].sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
        row.threads = new Map([...row.threads].sort((a, b) => b[1] - a[1] || a[0] - b[0]));
        row.lines = [...row.lines].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    }
    return rows.sort((a, b) => (b.ns - b.open) - (a.ns - a.open) || b.ns - a.ns || (a.key < b.key ? -1 : 1));
}

function addWait(group, waits, i) {
    group.ns += waits.ns[i];
    group.open += waits.open[i];
    group.number += waits.number[i];
    group.threads.set(waits.thread[i], (group.threads.get(waits.thread[i]) || 0) + waits.ns[i]);
    if (waits.line[i]) group.lines.set(waits.line[i], (group.lines.get(waits.line[i]) || 0) + waits.ns[i]);
    if (waits.longest[i] > group.longest) Object.assign(group, {longest: waits.longest[i], start: waits.start[i], thread: waits.thread[i], waker: waits.waker[i]});
    if (waits.waker[i] < 0) return;
    const key = `${waits.waker[i]} ${waits.by[i]}`;
    if (!group.wakers.has(key)) group.wakers.set(key, [waits.waker[i], waits.by[i], 0]);
    group.wakers.get(key)[2] += waits.ns[i];
}
