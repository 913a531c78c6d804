// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

import {Derivations, Functions} from '../../../web/derive.js';
import {initialState} from '../../../web/state.js';
import {Maker, namesOf} from './make_data.mjs';

const data = new Maker().sample('main f', {weight: 5}).sample('main f g', {weight: 2, thread: 1, time: 10}).sample('main g f', {weight: 3, thread: 1, time: 20}).sample('main g', {weight: 1, thread: 2, time: 30})
    .call('main f', {thread: 2, start: 40, duration: 8}).data();
const derived = () => new Derivations(data, new Functions(data)), idOf = (name) => namesOf(data).indexOf(name);
const weights = (state, func) => derived().threadsOf({...initialState(), ...state}, func, [0, 1, 2]).map(({thread, weight}) => `${thread}: ${weight}`);

test('thread weights are those of the selection', () => {
    assert.deepEqual(weights({}, null), ['0: 5', '1: 5', '2: 1']);
    assert.deepEqual(weights({time: [10, 21]}, null), ['1: 5', '0: 0', '2: 0']);
    assert.deepEqual(weights({threads: new Set([2])}, null), ['2: 1']);
    assert.deepEqual(weights({measure: 'count'}, null), ['1: 2', '0: 1', '2: 1']);
    assert.deepEqual(weights({event: 1}, null), ['2: 8', '0: 0', '1: 0']);
});

test('thread weights of a function include its callees', () => {
    assert.deepEqual(weights({}, idOf('g')), ['1: 5', '2: 1', '0: 0']);
    assert.deepEqual(weights({steps: [{key: 'd', id: idOf('f')}]}, null), ['2: 1', '0: 0', '1: 0']);
    assert.deepEqual(weights({steps: [{key: 'm', id: idOf('f')}]}, idOf('g')), ['1: 5', '2: 1', '0: 0']);
});
