// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

import {bytesOfBase64, columnOfPlanes, gunzipBytes, joinBytes, splitStream} from '../../../web/bytes.js';
import {readData} from '../../../web/data.js';
import {layOutInverted, layOutTree, siblingOrder} from '../../../web/layout.js';
import {callersOf, childrenOf, functionTable, invertedChildren, invertedRoots, outermostOf, pathOf, totalsOf} from '../../../web/tree.js';
import {callSpans, firstTimes, lowerBound, weightsOf} from '../../../web/weights.js';
import {bucketBoundary, bucketOf, callsOfFunction, distributionOf, distributionsByCaller, isNested, latencyRows, PERCENTILES, percentileOf, percentilesOf, selectCalls, slowestCalls} from '../../../web/latencies.js';
import {countMatches, matchFunctions, parseSearch} from '../../../web/search.js';
import {everything, Maker, namesOf, planesOf, streamOf} from './make_data.mjs';
import {gzipSync} from 'node:zlib';

test('columns of every width are decoded', () => {
    for (let width = 1; width <= 7; width++) {
        const most = Math.min(Math.pow(256, width) - 1, Number.MAX_SAFE_INTEGER), numbers = [0, 1, most, Math.floor(most / 3), 255];
        assert.deepEqual(Array.from(columnOfPlanes(planesOf(numbers, width), 0, numbers.length, width)), numbers);
    }
});

test('gzip data in blocks of base64 is decoded', async () => {
    const bytes = Uint8Array.from({length: 1000}, (_, i) => i % 251), packed = gzipSync(bytes);
    const halves = [packed.subarray(0, 33), packed.subarray(33)].map((half) => bytesOfBase64(half.toString('base64')));
    assert.deepEqual(await gunzipBytes(joinBytes(halves)), bytes);
});

test('a stream without the magic, or one that is cut off, is an error', () => {
    assert.throws(() => splitStream(new Uint8Array(20)), /not data of perfray view/);
    const stream = streamOf({quantum: 1, events: []}, new Maker().sample('a').columns());
    assert.throws(() => readData(stream.subarray(0, stream.length - 3)), /cut off/);
});

function viewOf(maker, selection = everything) {
    const data = maker.data(), {self, total} = weightsOf(data, selection, null), totals = totalsOf(data.tree, self);
    const children = childrenOf(data.tree), outer = outermostOf(data.tree, children, data.funcs.count);
    return {data, self, total, totals, children, outer, names: namesOf(data)};
}

const rowsOf = (v) => functionTable(v.data.tree, v.self, v.totals, v.outer, v.data.funcs.count)
    .map((row) => `${v.names[row.func]} ${row.self} ${row.total}`).sort();

test('a recursive function is counted once per stack', () => {
    const v = viewOf(new Maker().sample('a f g f', {weight: 3}).sample('a f', {weight: 2}).sample('g', {weight: 1}));
    assert.deepEqual(rowsOf(v), ['a 0 5', 'f 5 5', 'g 1 4']);
});

test('self weights of the function table add up to the total of every selection', () => {
    const maker = new Maker();
    for (let i = 0; i < 200; i++) maker.sample(['a b', 'a b c', 'd', 'd a'][i % 4], {thread: i % 3, time: i, weight: 1 + i % 7});
    for (const selection of [everything, {...everything, measure: 'count'}, {...everything, time: [20, 150]}, {...everything, threads: new Set([1])}]) {
        const v = viewOf(maker, selection);
        const rows = functionTable(v.data.tree, v.self, v.totals, v.outer, v.data.funcs.count);
        assert.equal(rows.reduce((sum, row) => sum + row.self, 0), v.total);
        assert.equal(v.totals[0], v.total);
    }
    assert.equal(viewOf(maker, {...everything, measure: 'count', time: [20, 150]}).total, 130);
});

test('inverted trees have the weights of the stacks, leaf first', () => {
    const v = viewOf(new Maker().sample('a b c', {weight: 1}).sample('x b c', {weight: 2}).sample('c', {weight: 4}));
    const roots = invertedRoots(v.data.tree, v.self), [root] = roots;
    assert.equal(roots.length, 1);
    assert.equal(root.total, 7);
    const [b] = invertedChildren(v.data.tree, root);
    assert.deepEqual([v.names[b.func], b.total], ['b', 3]);
    assert.deepEqual(invertedChildren(v.data.tree, b).map((n) => [v.names[n.func], n.total]), [['x', 2], ['a', 1]]);
});

test('the callers tree of a function has the total weight of the function', () => {
    const v = viewOf(new Maker().sample('a f g f', {weight: 3}).sample('b f', {weight: 2}));
    const root = callersOf(v.data.tree, v.totals, v.outer, v.names.indexOf('f'));
    assert.equal(root.total, 5);
    assert.deepEqual(invertedChildren(v.data.tree, root).map((n) => v.names[n.func]), ['a', 'b']);
});

test('callers of a function add up to its total, with a row for stacks that it begins', () => {
    const v = viewOf(new Maker().sample('a f g f', {weight: 3}).sample('f', {weight: 2}).sample('f h', {weight: 4}).sample('b f', {weight: 1}));
    const callers = (name) => invertedChildren(v.data.tree, callersOf(v.data.tree, v.totals, v.outer, v.names.indexOf(name)));
    assert.deepEqual(callers('f').map((n) => [n.func === null ? null : v.names[n.func], n.total]), [['a', 3], ['b', 1], [null, 6]]);
    assert.deepEqual(callers('g').map((n) => v.names[n.func]), ['f']);
    assert.deepEqual(callers('a').map((n) => [n.func, n.total, n.children]), [[null, 3, []]]);
    const boxes = layOutInverted(v.data.tree, callersOf(v.data.tree, v.totals, v.outer, v.names.indexOf('f')), 1000).filter((box) => box.row === 1);
    assert.equal(boxes.reduce((sum, box) => sum + box.width, 0), 1);
});

test('boxes fill their parents, and narrow boxes are merged', () => {
    const maker = new Maker().sample('a', {weight: 1000});
    for (let i = 0; i < 300; i++) maker.sample(`a f${i}`, {weight: 1});
    const v = viewOf(maker), compare = siblingOrder('weight', v.data.tree, v.totals, v.data.funcs.nameOf);
    const boxes = layOutTree(v.data.tree, v.children, v.totals, 0, 400, compare);
    const runs = boxes.filter((box) => box.node === null);
    assert.equal(runs.length, 1);
    assert.equal(runs[0].nodes.length, 300);
    assert.ok(Math.abs(runs[0].width - 300 / 1300) < 1e-9);
    const inverted = layOutInverted(v.data.tree, invertedRoots(v.data.tree, v.self), 400);
    assert.equal(inverted[0].node.total, 1300);
});

test('search counts each stack once', () => {
    const v = viewOf(new Maker().sample('a malloc b malloc', {weight: 3}).sample('a', {weight: 5}));
    const marked = matchFunctions(parseSearch('MALLOC'), v.data.funcs.count, (field, func) => v.names[func]);
    const found = countMatches(v.data.tree, v.self, v.totals, marked);
    assert.deepEqual([found.functions, found.nodes.length, found.weight], [1, 2, 3]);
    assert.deepEqual(countMatches(v.data.tree, v.self, v.totals.fill(0), marked), {functions: 0, weight: 0, nodes: new Uint32Array(0)}, 'nodes without weight were found');
    assert.equal(parseSearch('/^mal/').matches('malloc'), true);
    assert.equal(parseSearch('/^MAL/').matches('malloc'), false);
    assert.equal(parseSearch('a[b').matches('xa[bx'), true);
    assert.throws(() => parseSearch('/a[/'), SyntaxError);
    assert.equal(parseSearch('obj:libc').field, 'obj');
    for (const name of ['file::open', 'thread::start', 'thread:start']) {
        assert.equal(parseSearch(name).field, 'func');
        assert.equal(parseSearch(name).matches(`std::${name}`), true);
    }
});

test('calls inside calls of the same function are nested; the sum of the others is known', () => {
    const data = new Maker().call('f', {start: 0, duration: 100}).call('f g', {start: 5, duration: 50}).call('f g f', {start: 10, duration: 30}).call('f', {start: 200, duration: 7})
        .call('f', {thread: 1, start: 20, duration: 1}).data();
    const row = latencyRows(data, everything).find((each) => each.count === 4);
    assert.deepEqual([row.sum, row.outer], [138, 108]);
    assert.deepEqual(Array.from(data.calls.depth, (_, i) => isNested(data, i)), [false, false, true, false, false]);
});

const traced = () => new Maker().sample('work', {time: 5}).sample('work', {time: 15}).sample('work', {time: 25})
    .call('main', {start: 0, duration: 100}).call('main f', {start: 1, duration: 10}).call('main f g', {start: 2, duration: 4})
    .call('main f', {start: 20, duration: 30}).call('main h', {start: 60, duration: 40});

test('calls have a parent, the end of their subtree and a self time', () => {
    const {calls} = traced().data();
    assert.deepEqual(Array.from(calls.parent), [-1, 0, 1, 0, 0]);
    assert.deepEqual(Array.from(calls.end), [5, 3, 3, 4, 5]);
    assert.deepEqual(Array.from(calls.self), [20, 6, 4, 30, 40]);
});

test('a range of durations selects calls, their callees and the samples during them', () => {
    const data = traced().data(), names = namesOf(data), f = names.indexOf('f');
    const {selected, count} = selectCalls(data, everything, {func: f, low: 5, high: 20});
    assert.equal(count, 1);
    assert.equal(weightsOf(data, {...everything, event: 1}, selected).total, 10);
    assert.equal(weightsOf(data, everything, selected).rows, 1);
    assert.deepEqual([...callSpans(data, selected)], [[0, [[1, 11]]]]);
});

test('a percentile is one of the values, not interpolated', () => {
    const sorted = Float64Array.from({length: 1000}, (_, i) => i + 1);
    assert.deepEqual([0.5, 0.99, 0.999, 1].map((p) => percentileOf(sorted, p)), [500, 990, 999, 1000]);
    assert.equal(percentileOf([], 0.5), NaN);
});

test('percentilesOf finds the same values as sorting', () => {
    for (const count of [1, 2, 4095, 4096, 50000]) {
        const values = Float64Array.from({length: count}, (_, i) => Math.imul(i + 1, 2654435761) >>> (i % 29)), sorted = values.slice().sort();
        assert.deepEqual(percentilesOf(values), PERCENTILES.map(([, p]) => percentileOf(sorted, p)), `${count}`);
    }
});

test('every duration is within the boundaries of its bucket', () => {
    for (let d = 1; d < 1e12; d = d * 1.37 + 1) {
        const bucket = bucketOf(d);
        assert.ok(bucketBoundary(bucket) <= d && d < bucketBoundary(bucket + 1), `${d}`);
    }
    for (let b = 0; b < 300; b++) assert.equal(bucketOf(bucketBoundary(b)), b);
});

test('the distribution counts every call', () => {
    const data = traced().data(), f = namesOf(data).indexOf('f'), found = callsOfFunction(data, everything, f);
    const d = distributionOf(data, found);
    assert.deepEqual([d.count, d.sum, d.self, d.counts.reduce((a, b) => a + b)], [2, 40, 36, 2]);
    assert.deepEqual(slowestCalls(data, found, 1).map((i) => data.calls.duration[i]), [30]);
    assert.equal(latencyRows(data, everything).length, 4);
    assert.ok(latencyRows(data, everything).every((row) => row.outer === row.sum));
});

test('calls by caller are all calls', () => {
    const maker = new Maker();
    [['g', 0, 100], ['g f', 10, 30], ['h', 200, 90], ['h f', 210, 5], ['h f', 220, 6], ['f', 300, 7]].forEach(([stack, start, duration]) => maker.call(stack, {start, duration}));
    const data = maker.data(), names = namesOf(data), rows = distributionsByCaller(data, callsOfFunction(data, everything, names.indexOf('f')));
    assert.deepEqual(rows.map((row) => [names[row.caller] ?? null, row.count, row.sum, row.percentiles.at(-1)]), [['g', 1, 30, 30], ['h', 2, 11, 6], [null, 1, 7, 7]]);
});

test('lowerBound, pathOf and firstTimes', () => {
    assert.deepEqual([0, 1, 2, 9].map((t) => lowerBound([1, 1, 5], 0, 3, t)), [0, 0, 2, 3]);
    const data = new Maker().sample('b', {time: 5}).sample('a x', {time: 7}).data(), first = firstTimes(data, everything);
    assert.deepEqual(pathOf(data.tree, 1).length, 1);
    assert.deepEqual([first[0], first[2]], [5, 7]);
});

test('one row can represent several samples', () => {
    const data = new Maker().sample('a', {weight: 30, number: 3}).sample('b', {weight: 5}).data();
    const counted = weightsOf(data, {...everything, measure: 'count'}, null), weighed = weightsOf(data, everything, null);
    assert.deepEqual([counted.total, counted.rows, weighed.total, weighed.rows], [4, 4, 35, 4]);
});
