// SPDX-License-Identifier: Apache-2.0
// Durations of the calls of a function: histogram, percentiles, and the calls in a range of durations.
import {lowerBound, threadsOf} from './weights.js';

export const BUCKETS_PER_DOUBLING = 8;

// Bucket b holds durations from boundary(b) up to, not including, boundary(b + 1).
export const bucketBoundary = (bucket) => Math.pow(2, bucket / BUCKETS_PER_DOUBLING);

export function bucketOf(duration) {
    const bucket = Math.floor(Math.log2(Math.max(duration, 1)) * BUCKETS_PER_DOUBLING);
    if (duration >= bucketBoundary(bucket + 1)) return bucket + 1;
    return bucket > 0 && duration < bucketBoundary(bucket) ? bucket - 1 : bucket;
}

// Calls visit(from, to) with the calls of each selected thread that begin in the selected time.
function eachRangeOfCalls(calls, data, selection, visit) {
    for (const t of threadsOf(data, selection)) {
        let from = calls.ranges[t], to = calls.ranges[t + 1];
        if (selection.time) {
            from = lowerBound(calls.start, from, to, selection.time[0]);
            to = lowerBound(calls.start, from, to, selection.time[1]);
        }
        if (from < to) visit(from, to);
    }
}

// Calls of `func` in the selected time and threads.
export function callsOfFunction(data, selection, func) {
    const {calls} = data;
    let found = new Uint32Array(64), count = 0;
    eachRangeOfCalls(calls, data, selection, (from, to) => {
        for (let i = from; i < to; i++) {
            if (calls.func[i] !== func) continue;
            if (count === found.length) {
                const larger = new Uint32Array(2 * count);
                larger.set(found);
                found = larger;
            }
            found[count++] = i;
        }
    });
    return found.subarray(0, count);
}

// The percentile p by nearest rank; `sorted` is ascending.
export function percentileOf(sorted, p) {
    if (!sorted.length) return NaN;
    return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
}

export const PERCENTILES = [['p50', 0.5], ['p90', 0.9], ['p95', 0.95], ['p99', 0.99], ['p99.9', 0.999], ['max', 1]];

const FEW = 4096;
const COARSE = 1 << 15;

// Computes percentiles of many values without sorting all of them. Values are counted in groups with the same exponent
// and the same three bits after it; the order of groups is that of the values. Only the groups that contain percentiles
// are sorted.
export function percentilesOf(values) {
    if (values.length < FEW) {
        const sorted = Float64Array.from(values).sort();
        return PERCENTILES.map(([, p]) => percentileOf(sorted, p));
    }
    const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length), counts = new Uint32Array(COARSE), highWord = LITTLE_ENDIAN ? 1 : 0;
    for (let i = highWord; i < words.length; i += 2) counts[words[i] >>> 17]++;
    const groups = new Map(), wanted = PERCENTILES.map(([, p]) => placeOf(counts, Math.max(0, Math.ceil(p * values.length) - 1)));
    for (const {group} of wanted) groups.set(group, new Float64Array(counts[group]));
    const filled = new Uint32Array(COARSE);
    for (let i = 0; i < values.length; i++) {
        const group = words[2 * i + highWord] >>> 17, members = groups.get(group);
        if (members) members[filled[group]++] = values[i];
    }
    for (const members of groups.values()) members.sort();
    return wanted.map(({group, place}) => groups.get(group)[place]);
}

const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

// The group that contains the value of this rank, and the rank within the group.
function placeOf(counts, rank) {
    let group = 0;
    while (rank >= counts[group]) rank -= counts[group++];
    return {group, place: rank};
}

// Counts by bucket, from the first to the last bucket in use, and the numbers that tables show.
export function distributionOf(data, found) {
    const {duration, self} = data.calls, values = new Float64Array(found.length), all = {count: found.length, sum: 0, self: 0};
    let least = Infinity, most = 0;
    for (let i = 0; i < found.length; i++) {
        const value = (values[i] = duration[found[i]]);
        all.sum += value;
        all.self += Math.max(self[found[i]], 0);
        least = Math.min(least, value);
        most = Math.max(most, value);
    }
    const first = found.length ? bucketOf(least) : 0, counts = new Uint32Array(found.length ? bucketOf(most) - first + 1 : 0);
    for (let i = 0; i < values.length; i++) counts[bucketOf(values[i]) - first]++;
    return {...all, first, counts, percentiles: percentilesOf(values)};
}

// The found calls by the function that called them, as [{caller, count, sum, ...}], the largest sum first. caller -1: the
// outermost recorded call of its thread.
export function distributionsByCaller(data, found) {
    const {parent, func} = data.calls, groups = new Map();
    for (const i of found) {
        const caller = parent[i] < 0 ? -1 : func[parent[i]], group = groups.get(caller);
        if (group) group.push(i);
        else groups.set(caller, [i]);
    }
    const rows = [...groups].map(([caller, calls]) => ({caller, ...distributionOf(data, calls)}));
    return rows.sort((a, b) => b.sum - a.sum || a.caller - b.caller);
}

// Marks the calls of `func` that took at least `low` and less than `high` ns.
export function selectCalls(data, selection, {func, low, high}) {
    const selected = new Uint8Array(data.calls.depth.length);
    let count = 0;
    for (const i of callsOfFunction(data, selection, func)) {
        if (data.calls.duration[i] < low || data.calls.duration[i] >= high) continue;
        selected[i] = 1;
        count++;
    }
    return {selected, count};
}

// The slowest calls, longest first; calls of equal length in time order.
export function slowestCalls(data, found, most) {
    const {duration, start} = data.calls, before = (a, b) => duration[b] - duration[a] || start[a] - start[b];
    const slowest = [];
    for (let i = 0; i < found.length; i++) {
        if (slowest.length === most && before(found[i], slowest[most - 1]) >= 0) continue;
        let at = slowest.length;
        while (at > 0 && before(found[i], slowest[at - 1]) < 0) at--;
        slowest.splice(at, 0, found[i]);
        if (slowest.length > most) slowest.pop();
    }
    return slowest;
}

export const threadOfCall = (data, call) => {
    let thread = 0;
    while (data.calls.ranges[thread + 1] <= call) thread++;
    return thread;
};

// Whether a call is inside another call of the same function.
export function isNested({calls}, call) {
    for (let at = calls.parent[call]; at >= 0; at = calls.parent[at]) if (calls.func[at] === calls.func[call]) return true;
    return false;
}

// By function: the time of calls inside calls of the same function.
function nestedTimes(data, selection) {
    const {calls, funcs} = data, nested = new Float64Array(funcs.count), ends = new Float64Array(funcs.count);
    eachRangeOfCalls(calls, data, selection, (from, to) => {
        ends.fill(-Infinity);
        for (let i = from; i < to; i++) {
            const func = calls.func[i], end = calls.start[i] + calls.duration[i];
            if (calls.start[i] < ends[func]) nested[func] += calls.duration[i];
            else ends[func] = end;
        }
    });
    return nested;
}

// One row per traced function: {func, count, sum, self, outer, least, percentiles, exact, omitted}. Rows of the whole recording are those of
// `perfray latency`; rows of a selection are of the calls that the page has. `omitted`: number of calls of the function that the page
// does not have. `outer`: `sum` without calls inside calls of the same function that the page has.
export function latencyRows(data, selection) {
    const omitted = omittedCalls(data, selection), whole = wholeRows(data, selection);
    const rows = whole.length && hasAllCalls(data, selection) ? whole.slice() : rowsOfCalls(data, selection);
    const nested = nestedTimes(data, selection);
    return rows.map((row) => ({...row, outer: row.sum - nested[row.func], omitted: omitted.get(row.func) || 0})).sort((a, b) => b.sum - a.sum || a.func - b.func);
}

// Threads without calls may be missing from the selection. If the page omits calls, it does not know all threads that have some.
function hasAllCalls({calls, threads, meta}, {time, threads: chosen}) {
    const lacks = (t) => calls.ranges[t + 1] > calls.ranges[t] && !chosen.has(t);
    return !time && !(chosen && (meta.call_least || Array.from({length: threads.count}, (_, t) => t).some(lacks)));
}

// In a comparison, the functions of the recording that has the selection's event.
function wholeRows({meta, latencies = []}, selection) {
    const isOld = Boolean(meta.events[selection.event ?? 0].baseline);
    return latencies.filter((row) => row.isOld === isOld);
}

// Number of finished calls in the whole recording.
export const callsOfRecording = (data, selection) => wholeRows(data, selection).reduce((sum, row) => sum + row.count, 0);

// By function: number of calls that the page omits because they are short. Functions without such calls are not listed.
export function omittedCalls(data, selection) {
    const {calls, funcs, meta} = data, omitted = new Map();
    if (!meta.call_least) return omitted;
    const kept = countCalls(calls, funcs.count, data, {event: selection.event});
    for (const {func, count} of wholeRows(data, selection)) if (count > kept[func]) omitted.set(func, count - kept[func]);
    return omitted;
}

function countCalls(calls, funcCount, data, selection) {
    const counts = new Uint32Array(funcCount);
    eachRangeOfCalls(calls, data, selection, (from, to) => {
        for (let i = from; i < to; i++) counts[calls.func[i]]++;
    });
    return counts;
}

function rowsOfCalls(data, selection) {
    const {calls, funcs} = data, counts = countCalls(calls, funcs.count, data, selection), sums = new Float64Array(funcs.count), selves = new Float64Array(funcs.count);
    const durations = Array.from(counts, (count) => count ? new Float64Array(count) : null), filled = new Uint32Array(funcs.count);
    eachRangeOfCalls(calls, data, selection, (from, to) => {
        for (let i = from; i < to; i++) {
            const func = calls.func[i];
            durations[func][filled[func]++] = calls.duration[i];
            sums[func] += calls.duration[i];
            selves[func] += calls.self[i];
        }
    });
    const rows = [];
    durations.forEach((values, func) => {
        if (values) rows.push({func, count: counts[func], sum: sums[func], self: selves[func], least: values.reduce((a, b) => Math.min(a, b)), percentiles: percentilesOf(values), exact: true});
    });
    return rows;
}
