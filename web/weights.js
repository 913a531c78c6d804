// SPDX-License-Identifier: Apache-2.0
// The self weight of each node of the recording's tree in a selection of time, threads and calls.

// The first of the rows from..to-1 whose time is at least `time`; rows are in time order.
export function lowerBound(times, from, to, time) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (times[middle] < time) from = middle + 1;
        else to = middle;
    }
    return from;
}

export const isOfBaseline = (data, thread) => Boolean(data.threads.baseline && data.threads.baseline[thread] === 1);
// Samples without a thread belong to the unknown thread (value 2), which both recordings of a
// comparison share.
const ofEither = 2;
export const isOfRecording = (data, thread, isOld) =>
    !data.threads.baseline || data.threads.baseline[thread] === ofEither || isOfBaseline(data, thread) === isOld;

// A selection's threads as a list of ids; null means all. In a comparison, these are only threads
// of the recording that has the selection's event.
export function threadsOf(data, selection) {
    const isOld = Boolean(data.meta.events[selection.event ?? 0].baseline), all = Array.from({length: data.threads.count}, (_, i) => i).filter((t) => isOfRecording(data, t, isOld));
    return selection.threads ? all.filter((t) => selection.threads.has(t)) : all;
}

// Calls visit(from, to) with the rows of each selected thread inside the selected time.
function eachRange(data, rows, times, selection, visit) {
    for (const thread of threadsOf(data, selection)) {
        let from = rows.ranges[thread], to = rows.ranges[thread + 1];
        if (selection.time) {
            from = lowerBound(times, from, to, selection.time[0]);
            to = lowerBound(times, from, to, selection.time[1]);
        }
        if (from < to) visit(from, to, thread);
    }
}

// Each sample adds its weight; if samples are counted or the recording has no weights, its number of samples.
function addSamples(samples, from, to, event, counted, sums) {
    const {number, node, event: events} = samples, weights = counted || !samples.weight ? number : samples.weight, {self, only} = sums;
    let total = 0, rows = 0;
    for (let i = from; i < to; i++) {
        if (events[i] !== event || (only && !only[node[i]])) continue;
        const weight = weights ? weights[i] : 1;
        self[node[i]] += weight;
        total += weight;
        rows += number ? number[i] : 1;
    }
    sums.total += total;
    sums.rows += rows;
}

function addCalls(calls, from, to, counted, sums) {
    const {self, node} = calls, {self: into, only} = sums;
    let total = 0;
    for (let i = from; i < to; i++) {
        if (only && !only[node[i]]) continue;
        const weight = counted ? 1 : Math.max(self[i], 0);
        into[node[i]] += weight;
        total += weight;
    }
    sums.total += total;
    sums.rows += to - from;
}

// The selected calls of a function as time ranges by thread, in order and without overlap (recursive calls are merged).
export function callSpans(data, selected) {
    const spans = new Map(), calls = data.calls;
    for (let t = 0; t < data.threads.count; t++) {
        const list = [];
        let end = -1;
        for (let i = calls.ranges[t]; i < calls.ranges[t + 1]; i++) {
            if (!selected[i] || calls.start[i] < end) continue;
            end = calls.start[i] + calls.duration[i];
            list.push([calls.start[i], end]);
        }
        if (list.length) spans.set(t, list);
    }
    return spans;
}

function addSamplesInSpans(data, selection, spans, sums) {
    eachRange(data, data.samples, data.samples.time, selection, (from, to, thread) => {
        for (const [start, end] of spans.get(thread) || []) {
            const first = lowerBound(data.samples.time, from, to, start);
            addSamples(data.samples, first, lowerBound(data.samples.time, first, to, end), selection.event,
                       selection.measure === 'count', sums);
        }
    });
}

// Selected calls with everything they called: a call's subtree is the rows up to calls.end.
function addSubtrees(data, selection, selected, sums) {
    const calls = data.calls;
    eachRange(data, calls, calls.start, selection, (from, to) => {
        for (let i = from; i < to; i++)
            if (selected[i]) {
                addCalls(calls, i, calls.end[i], selection.measure === 'count', sums);
                i = calls.end[i] - 1;
            }
    });
}

// Whether the event is that of traced calls, which comes after the events of samples.
export const isTraced = (data, event) => Boolean(data.meta.events[event].traced);

// {self, total, rows}: `self` by node, the sum `total`, and the number `rows` of counted samples or calls. `selected`
// flags the chosen calls (a Uint8Array), or is null if no calls were chosen. `only` flags the nodes that count; null:
// all.
export function weightsOf(data, selection, selected, only = null, self = new Float64Array(data.tree.count)) {
    const sums = {self, only, total: 0, rows: 0};
    const counted = selection.measure === 'count';
    if (isTraced(data, selection.event)) {
        if (selected) addSubtrees(data, selection, selected, sums);
        else eachRange(data, data.calls, data.calls.start, selection, (from, to) => addCalls(data.calls, from, to, counted, sums));
    } else if (selected) {
        addSamplesInSpans(data, selection, callSpans(data, selected), sums);
    } else {
        eachRange(data, data.samples, data.samples.time, selection,
                  (from, to) => addSamples(data.samples, from, to, selection.event, counted, sums));
    }
    return sums;
}

// When each node was first sampled or called; siblings in a flame chart have this order.
export function firstTimes(data, selection) {
    const first = new Float64Array(data.tree.count).fill(Infinity);
    const traced = isTraced(data, selection.event), rows = traced ? data.calls : data.samples;
    const times = traced ? rows.start : rows.time;
    const isOther = (i) => !traced && rows.event[i] !== (selection.event ?? 0);
    eachRange(data, rows, times, selection, (from, to) => {
        for (let i = from; i < to; i++)
            if (!isOther(i)) first[rows.node[i]] = Math.min(first[rows.node[i]], times[i]);
    });
    for (let i = data.tree.count - 1; i > 0; i--)
        first[data.tree.parent[i]] = Math.min(first[data.tree.parent[i]], first[i]);
    return first;
}
