// SPDX-License-Identifier: Apache-2.0
// Threads over time, busiest first: samples as density, calls as spans, losses and gaps on top. Dragging selects time.
import {el, fill, fitCanvas, onceAFrame} from './dom.js';
import {axisStep, formatTime, groupDigits, shortName, visibleText} from './format.js';
import {firstEndingAfter, Pyramid} from './pyramid.js';
import {lowerBound} from './weights.js';

const AXIS = 22;
const SAMPLES_HEIGHT = 26;
const LANE = 7;
const LANES_MOST = 8;
const LABELS_WIDE = 150;
const LABELS_NARROW = 70;
const MARK_WIDTH = 3;
const THREADS_MOST = 200; // busiest threads that have a row

export class TimelineView {
    constructor(app) {
        this.app = app;
        this.canvas = el('canvas', {'aria-hidden': 'true'});
        this.labels = el('div', {class: 'threads', role: 'listbox', 'aria-multiselectable': 'true', 'aria-label': 'Threads'});
        this.surface = el('div', {class: 'times', tabindex: '0', role: 'img', 'aria-label': 'Timeline'}, this.canvas);
        this.element = el('section', {class: 'timeline', 'aria-label': 'Timeline'}, this.labels, this.surface);
        this.redraw = onceAFrame(() => this.draw());
        this.pyramids = new Map();
        this.scroll = 0;
        this.order();
        this.range = this.whole();
        this.listen();
    }
    order() {
        const {data} = this.app, weight = (t) => data.samples.ranges[t + 1] - data.samples.ranges[t] + data.calls.ranges[t + 1] - data.calls.ranges[t];
        const all = Array.from({length: data.threads.count}, (_, t) => t).sort((a, b) => weight(b) - weight(a) || a - b);
        this.threads = all.slice(0, THREADS_MOST);
        this.hidden = all.length - this.threads.length;
    }
    whole() {
        const {begin, end} = this.app.extent;
        return [begin, Math.max(end, begin + 1)];
    }
    listen() {
        this.surface.addEventListener('pointerdown', (event) => this.press(event));
        this.surface.addEventListener('pointermove', (event) => this.moved(event));
        this.surface.addEventListener('pointerup', (event) => this.release(event));
        this.surface.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
        this.surface.addEventListener('keydown', (event) => this.key(event));
        this.labels.addEventListener('scroll', () => {
            this.scroll = this.labels.scrollTop;
            this.redraw();
        });
    }

    // --- Places.

    lanesOf(thread) {
        const {calls} = this.app.data;
        if (calls.ranges[thread] === calls.ranges[thread + 1]) return 0;
        this.laneCounts = this.laneCounts || new Map();
        if (!this.laneCounts.has(thread)) {
            let deepest = 0;
            for (let i = calls.ranges[thread]; i < calls.ranges[thread + 1]; i++) deepest = Math.max(deepest, calls.depth[i]);
            this.laneCounts.set(thread, Math.min(deepest + 1, LANES_MOST));
        }
        return this.laneCounts.get(thread);
    }
    hasSamples(thread) {
        const {samples} = this.app.data;
        return samples.ranges[thread] < samples.ranges[thread + 1];
    }
    heightOf(thread) {
        return Math.max(20, (this.hasSamples(thread) ? SAMPLES_HEIGHT : 0) + this.lanesOf(thread) * LANE) + 4;
    }
    xOf(time) { return (time - this.range[0]) / (this.range[1] - this.range[0]) * this.width; }
    timeOf(x) { return this.range[0] + x / this.width * (this.range[1] - this.range[0]); }

    // --- Drawing.

    render() {
        this.labels.style.width = `${this.app.narrow() ? LABELS_NARROW : LABELS_WIDE}px`;
        const rest = this.hidden ? el('div', {class: 'thread dim', text: `+ ${groupDigits(this.hidden)} threads`, title: 'less busy ones have no row; all views count them'}) : null;
        fill(this.labels, ...this.threads.map((thread) => this.label(thread)), rest);
        this.redraw();
    }
    label(thread) {
        const {threads, strings} = this.app.data, {state} = this.app;
        const name = visibleText(strings.get(threads.name[thread])) || 'thread';
        const chosen = !state.threads || state.threads.has(thread);
        const label = el('div', {class: chosen ? 'thread' : 'thread off', role: 'option', tabindex: '0', 'aria-selected': String(chosen),
                                 title: `${name}, pid ${threads.pid[thread]}, tid ${threads.tid[thread]}`,
                                 onclick: (event) => this.choose(thread, event),
                                 onkeydown: (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); this.choose(thread, event); } }},
                         el('span', {text: shortName(name, this.app.narrow() ? 9 : 20)}), el('small', {text: String(threads.tid[thread])}));
        label.style.height = `${this.heightOf(thread)}px`;
        return label;
    }
    // One thread; with Ctrl one more or less; the only chosen one again: all.
    choose(thread, event) {
        const before = this.app.state.threads, threads = new Set(event.ctrlKey || event.metaKey ? before || [] : []);
        if (event.ctrlKey || event.metaKey) threads.has(thread) ? threads.delete(thread) : threads.add(thread);
        else if (!(before && before.size === 1 && before.has(thread))) threads.add(thread);
        this.app.change({threads: threads.size ? threads : null});
    }
    draw() {
        const height = this.surface.clientHeight;
        this.width = this.surface.clientWidth;
        if (!this.width || !height) return;
        this.context = fitCanvas(this.canvas, this.width, height);
        this.colours = this.app.themeColours();
        this.drawAxis(height);
        let y = AXIS - this.scroll;
        for (const thread of this.threads) {
            const tall = this.heightOf(thread);
            if (y + tall > AXIS && y < height) this.drawThread(thread, y, tall);
            y += tall;
        }
        this.drawChosen(height);
        this.context.clearRect(0, 0, this.width, AXIS - 2);
        this.drawLabels();
    }
    ticks() {
        const span = this.range[1] - this.range[0], step = axisStep(span, this.width, 84), {begin} = this.app.extent, ticks = [];
        for (let time = Math.ceil((this.range[0] - begin) / step) * step; time <= this.range[1] - begin; time += step) ticks.push(time);
        return ticks.map((time) => ({x: this.xOf(time + begin), text: formatTime(time)}));
    }
    drawAxis(height) {
        this.context.fillStyle = this.colours.line;
        for (const {x} of this.ticks()) this.context.fillRect(x, AXIS - 4, 1, height);
    }
    drawLabels() {
        this.context.fillStyle = this.colours.dim;
        this.context.font = '11px system-ui, sans-serif';
        for (const {x, text} of this.ticks()) this.context.fillText(text, x + 3, 13);
    }
    drawThread(thread, y, tall) {
        const off = this.app.state.threads && !this.app.state.threads.has(thread);
        this.context.globalAlpha = off ? 0.3 : 1;
        if (this.hasSamples(thread)) this.drawSamples(thread, y);
        this.drawCalls(thread, y + (this.hasSamples(thread) ? SAMPLES_HEIGHT : 0));
        this.context.globalAlpha = 1;
        this.drawMarks(thread, y, tall);
    }
    // Samples per pixel as the height of a column.
    drawSamples(thread, y) {
        const {samples} = this.app.data, to = samples.ranges[thread + 1], columns = new Uint32Array(Math.ceil(this.width));
        let most = 0;
        for (let i = lowerBound(samples.time, samples.ranges[thread], to, this.range[0]); i < to && samples.time[i] < this.range[1]; i++) {
            const x = Math.floor(this.xOf(samples.time[i]));
            if (x >= 0 && x < columns.length) most = Math.max(most, ++columns[x]);
        }
        this.context.fillStyle = this.colours.acc;
        for (let x = 0; x < columns.length; x++) {
            if (!columns[x]) continue;
            const tall = Math.max(3, (SAMPLES_HEIGHT - 4) * columns[x] / Math.max(most, 1));
            this.context.fillRect(x, y + SAMPLES_HEIGHT - 2 - tall, 1, tall);
        }
    }
    drawCalls(thread, y) {
        const lanes = this.lanesOf(thread);
        if (!lanes) return;
        if (!this.pyramids.has(thread)) this.pyramids.set(thread, new Pyramid(this.app.data.calls, thread, LANES_MOST));
        const perPixel = (this.range[1] - this.range[0]) / this.width;
        for (let depth = 0; depth < lanes; depth++)
            this.drawLane(this.pyramids.get(thread).rowFor(depth, perPixel), y + depth * LANE);
    }
    drawLane(row, y) {
        const colours = this.app.colours();
        for (let i = firstEndingAfter(row, this.range[0]); i < row.start.length && row.start[i] < this.range[1]; i++) {
            const x = Math.max(this.xOf(row.start[i]), 0), end = Math.min(this.xOf(row.end[i]), this.width);
            this.context.fillStyle = row.func[i] < 0 ? this.colours.mute : colours.of(row.func[i]).fill;
            this.context.fillRect(x, y, Math.max(1, end - x - (end - x > 3 ? 1 : 0)), LANE - 1);
        }
    }
    drawMarks(thread, y, tall) {
        const {marks} = this.app.data;
        this.context.fillStyle = this.colours.warn;
        for (let i = 0; i < marks.count; i++) {
            if (marks.thread[i] !== thread || marks.time[i] < this.range[0] || marks.time[i] > this.range[1]) continue;
            this.context.fillRect(this.xOf(marks.time[i]) - 1, y, MARK_WIDTH, tall - 3);
        }
    }
    drawChosen(height) {
        const time = this.dragging || this.app.state.time;
        if (!time) return;
        const [from, to] = time.map((t) => this.xOf(t));
        this.context.fillStyle = this.colours.acc;
        this.context.globalAlpha = 0.16;
        this.context.fillRect(from, AXIS, Math.max(to - from, 1), height);
        this.context.globalAlpha = 1;
        this.context.fillRect(from, AXIS, 1, height);
        this.context.fillRect(to, AXIS, 1, height);
    }

    // --- The pointer.

    xAt(event) {
        return Math.max(0, Math.min(event.clientX - this.surface.getBoundingClientRect().left, this.width));
    }
    press(event) {
        this.surface.setPointerCapture(event.pointerId);
        this.pressed = {x: this.xAt(event), pans: event.shiftKey || event.button === 1, range: this.range};
    }
    moved(event) {
        const x = this.xAt(event);
        if (!this.pressed) return this.tell(event, x);
        if (this.pressed.pans) return this.panFrom(this.pressed.range, this.pressed.x - x);
        if (Math.abs(x - this.pressed.x) < 3) return undefined;
        this.dragging = [this.timeOf(Math.min(x, this.pressed.x)), this.timeOf(Math.max(x, this.pressed.x))].map(Math.round);
        this.app.preview({time: this.dragging});
        return this.redraw();
    }
    release() {
        const {dragging, pressed} = this;
        this.pressed = this.dragging = null;
        if (dragging && dragging[1] > dragging[0]) this.app.change({time: dragging});
        else if (pressed && !pressed.pans && this.app.state.time) this.app.change({time: null});
    }
    tell(event, x) {
        const offset = this.timeOf(x) - this.app.extent.begin, thread = this.threadAt(event);
        const call = thread === undefined ? '' : this.callAt(thread, event);
        this.app.hover(`${formatTime(offset)} after the start${thread === undefined ? '' : `, ${this.app.threadName(thread)}`}${call}`);
    }
    threadAt(event) {
        let y = event.clientY - this.surface.getBoundingClientRect().top - AXIS + this.scroll;
        for (const thread of this.threads) {
            if (y >= 0 && y < this.heightOf(thread)) {
                this.insideY = y;
                return thread;
            }
            y -= this.heightOf(thread);
        }
        return undefined;
    }
    callAt(thread, event) {
        const depth = Math.floor((this.insideY - (this.hasSamples(thread) ? SAMPLES_HEIGHT : 0)) / LANE), time = this.timeOf(this.xAt(event));
        if (depth < 0 || depth >= this.lanesOf(thread)) return '';
        const row = this.pyramids.get(thread).levels[depth][0].row, i = firstEndingAfter(row, time);
        if (i >= row.start.length || row.start[i] > time) return '';
        return `: ${this.app.functions.nameOf(row.func[i])}, ${formatTime(row.end[i] - row.start[i])}`;
    }
    wheel(event) {
        if (!event.ctrlKey && !event.shiftKey) {
            this.labels.scrollTop += event.deltaY;
            return;
        }
        event.preventDefault();
        if (event.shiftKey) this.panFrom(this.range, event.deltaY + event.deltaX);
        else this.zoomBy(event.deltaY < 0 ? 0.8 : 1.25, this.timeOf(this.xAt(event)));
    }

    // --- What is in view.

    show(from, to) {
        const [begin, end] = this.whole(), span = Math.min(Math.max(to - from, 1), end - begin);
        const first = Math.max(begin, Math.min(from, end - span));
        this.range = [first, first + span];
        this.redraw();
    }
    panFrom(range, pixels) {
        const by = pixels / this.width * (range[1] - range[0]);
        this.show(range[0] + by, range[1] + by);
    }
    zoomBy(factor, around = (this.range[0] + this.range[1]) / 2) {
        this.show(around - (around - this.range[0]) * factor, around + (this.range[1] - around) * factor);
    }
    key(event) {
        const keys = {w: () => this.zoomBy(0.5), s: () => this.zoomBy(2), a: () => this.panFrom(this.range, -this.width / 4),
                      d: () => this.panFrom(this.range, this.width / 4), '+': () => this.zoomBy(0.5), '-': () => this.zoomBy(2),
                      0: () => this.show(...this.whole()), Enter: () => this.chooseRange()};
        if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
        event.preventDefault();
        event.stopPropagation();
        keys[event.key]();
    }
    // The keyboard's way to select time: what is in view.
    chooseRange() {
        const [begin, end] = this.whole(), whole = this.range[0] <= begin && this.range[1] >= end;
        this.app.change({time: whole ? null : this.range.map(Math.round)});
    }
}
