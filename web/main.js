// SPDX-License-Identifier: Apache-2.0
// Starts the page: reads its data blocks and shows the data, or waits for a file.
import {App} from './app.js';
import {bytesOfBase64, gunzipBytes, joinBytes} from './bytes.js';
import {readData} from './data.js';
import {el} from './dom.js';

// The interface of the page for tests and scripts.
function expose(app) {
    window.perfray = Object.freeze({
        get state() { return {...app.state, threads: app.state.threads && [...app.state.threads]}; },
        get quality() { return app.data.meta.losses || []; },
        get total() { return app.view().total[0]; },
        get rows() { return app.view().rows; },
        get table() { return app.table().map((row) => ({name: app.functions.nameOf(row.func), object: app.functions.objectName(app.functions.objectOf(row.func)), self: row.self, total: row.total})); },
        get events() { return app.data.meta.events.map((event) => event.name); },
        get threads() { return Array.from(app.data.threads.tid, (tid, t) => `${app.data.threads.pid[t]}/${tid}`); },
        get drawn() { return app.views.flame.painter.drawn; },
        get took() { return {change: app.changeTook, draw: app.views.flame.painter.drawn.ms}; },
        get code() { return app.views.code.facts(); },
        get waits() { return app.views.waits.facts(); },
        get boxes() { return (app.views.flame.boxes || []).length; },
        svg: () => app.picture(),
        tsv: () => app.views[app.state.panel].tsv(),
    });
}

function show(data) {
    const began = performance.now();
    expose(new App(data));
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
    performance.mark('perfray-ready', {detail: performance.now() - began});
}

function fail(error) {
    document.body.prepend(el('p', {class: 'failure', role: 'alert', text: `This page cannot show its data: ${error.message}`}));
    document.documentElement.dataset.ready = 'failed';
}

// Reads the blocks of one stream, in order. Each block is removed as soon as it is read, because the text of a large
// page takes much memory.
async function readBlocks() {
    const blocks = [...document.querySelectorAll('script[type="application/x-perfray"]')];
    const packed = blocks.map((block) => {
        const bytes = bytesOfBase64(block.textContent.trim());
        block.remove();
        return bytes;
    });
    return packed.length ? gunzipBytes(joinBytes(packed)) : null;
}

async function readFile(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    return readData(bytes[0] === 0x1f && bytes[1] === 0x8b ? await gunzipBytes(bytes) : bytes);
}

// A page without data waits for a file written by `perfray view --data`.
function waitForFile() {
    const input = el('input', {type: 'file', id: 'file', 'aria-label': 'File made by perfray view --data'});
    const place = el('section', {class: 'drop'}, el('h2', {text: 'Drop a file here'}), el('p', {text: 'It is made by: perfray view --data -o FILE.prv perf.data'}), input);
    const take = (file) => readFile(file).then((data) => { place.remove(); show(data); }).catch(fail);
    input.addEventListener('change', () => input.files[0] && take(input.files[0]));
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => {
        event.preventDefault();
        if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
    document.body.append(place);
    document.documentElement.dataset.ready = 'empty';
}

readBlocks().then((bytes) => bytes ? show(readData(bytes)) : waitForFile()).catch(fail);
