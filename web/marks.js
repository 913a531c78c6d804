// SPDX-License-Identifier: Apache-2.0
// Marks: losses of the recording, and events that the traced program logged.
import {countOf, formatTime, visibleText} from './format.js';
import {isOfBaseline, lowerBound} from './weights.js';

export const MARK_KINDS = ['lost', 'lost samples', 'throttled', 'unthrottled', 'unreadable', 'mark', 'event', 'typed event']; // as pfr_mark_kind
const FIRST_LOGGED = 6, TYPED = 7;
const COUNTED = ['record', 'sample', null, null, 'byte', null, 'byte', 'byte'];

export class Marks {
    constructor(data) {
        Object.assign(this, data.marks);
        this.data = data;
        this.logged = this.kind.reduce((sum, kind) => sum + Number(kind >= FIRST_LOGGED), 0);
    }
    isLogged(i) { return this.kind[i] >= FIRST_LOGGED; }
    isOld(i) { return Boolean(this.baseline && this.baseline[i]); }
    kindName(i) { return `${this.isOld(i) ? 'baseline: ' : ''}${MARK_KINDS[this.kind[i]] || 'mark'}`; }
    // The text of an event, in quotes, or the count of a loss.
    text(i) {
        const text = visibleText(this.data.strings.get(this.texts[i]).trimEnd()), noun = COUNTED[this.kind[i]];
        const what = text ? `“${text}”` : noun ? countOf(this.number[i], noun) : '';
        return this.kind[i] === TYPED ? `${this.type[i]}: ${what}` : what;
    }
    describe(i) { return [this.kindName(i), this.text(i)].filter(Boolean).join(' '); }
    // Marks of the selected time and threads, in time order. A selection of threads includes the
    // marks whose thread is unknown; in a comparison, only those of recordings that have a selected
    // thread.
    within({time, threads}) {
        const found = [], sides = new Set([...threads || []].map((thread) => isOfBaseline(this.data, thread)));
        for (let i = time ? lowerBound(this.time, 0, this.count, time[0]) : 0; i < this.count && !(time && this.time[i] > time[1]); i++)
            if (!threads || (this.thread[i] < 0 ? sides.has(this.isOld(i)) : threads.has(this.thread[i]))) found.push(i);
        return found;
    }
    ofThread(thread) {
        this.known = this.known || new Map();
        if (!this.known.has(thread)) this.known.set(thread, this.within({time: null, threads: new Set([thread])}));
        return this.known.get(thread);
    }
    // The mark of a thread that is nearest to a time; -1 if the nearest is farther away than `least`.
    near(thread, time, least) {
        let best = -1, distance = least;
        for (const i of this.ofThread(thread)) {
            const away = Math.abs(this.time[i] - time);
            if (away <= distance && !(away === distance && best >= 0)) [best, distance] = [i, away];
        }
        return best;
    }
    when(i, begin) { return formatTime(this.time[i] - begin); }
}
