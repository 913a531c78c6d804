// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

import {axisStep, foldArguments, formatRange, formatShare, formatTick, formatTime, formatWeight, groupDigits, parseDuration, shortName, shortPath, visibleText} from '../../../web/format.js';
import {hashOfState, History, initialState, nameCheck, PANELS, stateOfHash, threadsAfter} from '../../../web/state.js';

const thin = (text) => text.replace(/\u2009/g, ' ');

test('times and counts have three significant digits and a unit', () => {
    assert.deepEqual([0, 1, 999, 1000, 1234, 999900, 1.5e9, 12e9, 345e9].map(formatTime).map(thin),
                     ['0', '1 ns', '999 ns', '1 µs', '1.23 µs', '1 ms', '1.5 s', '12 s', '345 s']);
    assert.deepEqual([7, 9999, 12345, 1234567, 2e10].map((n) => thin(formatWeight(n, null))), ['7', '9 999', '12.3 k', '1 235 k', '20 G'].map((t) => t.replace('1 235 k', '1235 k')));
    assert.equal(thin(groupDigits(1234567)), '1 234 567');
    assert.deepEqual([[0, 0], [1, 3], [1, 1000], [1, 1e9], [5, 5]].map(([a, b]) => formatShare(a, b)), ['0 %', '33.3 %', '0.10 %', '< 0.01 %', '100.0 %']);
});

test('labels of an axis differ', () => {
    const labels = [2.25e9, 2.2501e9, 2.2502e9].map((ns) => thin(formatTick(ns, 1e5, 2.2502e9)));
    assert.deepEqual(labels, ['2.2500 s', '2.2501 s', '2.2502 s']);
    assert.deepEqual([0, 5e5, 1e6].map((ns) => thin(formatTick(ns, 5e5, 1e6))), ['0', '0.5 ms', '1.0 ms']);
    assert.deepEqual([20, 40].map((ns) => thin(formatTick(ns, 20, 40))), ['20 ns', '40 ns']);
});

test('both ends of a range differ, even if it is short', () => {
    assert.deepEqual([[0, 4.1e9], [2.05e9, 4.11e9], [2050000000, 2050000300], [1e6, 2.5e6], [5, 6]].map((range) => thin(formatRange(...range))),
                     ['0 to 4.10 s', '2.05 s to 4.11 s', '2.050000000 s to 2.050000300 s', '1.00 ms to 2.50 ms', '5 ns to 6 ns']);
});

test('choosing a thread selects only it, or all if it was the only one; with Ctrl it is added or removed', () => {
    const chosen = (before, thread, adds) => { const after = threadsAfter(before && new Set(before), thread, adds); return after && [...after]; };
    assert.deepEqual([[null, 3], [[3], 3], [[1, 3, 5], 3], [[1], 3]].map(([before, thread]) => chosen(before, thread, false)), [[3], null, [3], [3]]);
    assert.deepEqual([[null, 3], [[3], 3], [[1, 3], 3], [[1], 3]].map(([before, thread]) => chosen(before, thread, true)), [[3], null, [1], [1, 3]]);
});

test('durations with units are parsed', () => {
    assert.deepEqual(['5 ms', '5ms', ' 1.5 s ', '200us', '200 µs', '7ns'].map(parseDuration), [5e6, 5e6, 1.5e9, 2e5, 2e5, 7]);
    for (const text of ['', '5', 'ms', '-5 ms', '5 m', '1e3 ms', '5 ms 3']) assert.ok(Number.isNaN(parseDuration(text)), text);
});

test('control characters and bidirectional overrides in names are escaped', () => {
    assert.equal(visibleText('a\u202eb\u0000\n\u2028\ud800'), 'a\\u202eb\\u0000\\u000a\\u2028\\ud800');
    assert.equal(visibleText('😀 é'), '😀 é');
});

test('long names are shortened by folding their arguments first', () => {
    assert.equal(foldArguments('std::vector<int, std::allocator<int> >::push_back(int const&)'), 'std::vector<…>::push_back()');
    assert.equal(foldArguments('A::operator<(B const&)'), 'A::operator<(B const&)');
    assert.equal(foldArguments('broken<'), 'broken<');
    assert.equal(shortName('std::vector<int>::push_back(int const&)', 30), 'std::vector<…>::push_back()');
    assert.equal(shortName('std::vector<int>::push_back(int const&)', 14), '…::push_back()');
    assert.equal(shortName('abcdefgh', 4), 'abc…');
    assert.equal(shortName('abcdefgh', 1), '');
    assert.equal(shortPath('/usr/lib/libc.so.6', 10), '…libc.so.6');
});

test('axis labels keep a minimum distance', () => {
    for (const range of [10, 1e3, 7.3e9]) {
        const step = axisStep(range, 800, 64);
        assert.ok(step / range * 800 >= 64 || step === 1);
        assert.match(String(step), /^[125]0*$/);
    }
});

const names = ['main', 'f', 'odd,name&=%'];
const facts = {funcCount: 3, threadCount: 4, eventCount: 2, nameOf: (func) => names[func]};

test('a state is restored from its URL hash', () => {
    const state = {...initialState(), panel: 'table', event: 1, measure: 'count', time: [1200000000, 1850000001], threads: new Set([3, 1]),
                   calls: {func: 1, low: 12.5, high: Infinity}, steps: [{key: 'f', id: 2}, {key: 'M', id: 45}, {key: 'k'}, {key: '+', text: 'a,b&c=%'}],
                   func: 2, zoom: 7, query: '/re,&=%/i', colour: 'object', inverted: true};
    const {state: back, ignored} = stateOfHash(hashOfState(state, facts.nameOf), facts);
    assert.deepEqual(ignored, []);
    assert.deepEqual({...back, threads: [...back.threads].sort()}, {...state, threads: [1, 3]});
    assert.deepEqual(stateOfHash(hashOfState(initialState(), facts.nameOf), facts).state, initialState());
});

test('every panel is restored from its URL hash', () => {
    for (const {name} of PANELS) assert.deepEqual(stateOfHash(hashOfState({...initialState(), panel: name}), facts), {state: {...initialState(), panel: name}, ignored: []});
    assert.deepEqual(stateOfHash('#1&p=nonsense', facts), {state: initialState(), ignored: ['p=nonsense']});
});

test('parts of a URL hash that do not match the recording are ignored and listed', () => {
    const other = {...facts, nameOf: (func) => 'other' + func};
    const {state, ignored} = stateOfHash(`#1&x=f1.${nameCheck('f')},k&f=9&ev=7&nonsense=1&q=%&th=`, other);
    assert.deepEqual(state.steps, [{key: 'k'}]);
    assert.deepEqual([state.func, state.event, ignored.length], [null, 0, 6]);
    assert.deepEqual(stateOfHash('#2&p=table', facts), {state: initialState(), ignored: ['2&p=table']});
    assert.deepEqual(stateOfHash('', facts).ignored, []);
});

test('undo and redo', () => {
    const history = new History(1);
    history.push(2);
    history.push(3);
    assert.ok(history.undo() && history.undo() && !history.undo());
    assert.equal(history.present, 1);
    assert.ok(history.redo());
    assert.equal(history.present, 2);
    history.push(9);
    assert.equal(history.redo(), false);
});
