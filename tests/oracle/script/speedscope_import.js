// SPDX-License-Identifier: Apache-2.0
// speedscope_import.js BUNDLE FILE... - prints the result of speedscope's own importer for each FILE, as JSON, one line each.
//
// BUNDLE is dist/release/speedscope-*.js of the npm package, run unchanged except for a line in front that makes its import
// and export functions accessible. There is no page, so its user interface stops, but only after the importer is defined.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

function one(text, pattern, what) {
    const found = pattern.exec(text);
    if (!found)
        throw new Error("this speedscope has no " + what);
    return found[1];
}

function load(bundle) {
    const text = fs.readFileSync(bundle, "utf8");
    const importers = one(text, /[\w$]+\(([\w$]+),\{importFromFileSystemDirectoryEntry:/, "importer");
    const start = one(text, new RegExp("\\((\\w+)\\(\\)," + importers + "\\)"), "start of the importer");
    const exporter = one(text, /function (\w+)\(\w+\)\{(?:(?!function \w+\(\w+\)\{let \w+=\[\],\w+=new Map;function).){0,600}exporter:`speedscope@/, "exporter");
    const head = /^"use strict";\(\(\)=>\{/;
    if (!head.test(text))
        throw new Error("this speedscope begins otherwise");
    const handed = `globalThis.handed = {importer: () => (${start}(), ${importers}), exporter: group => ${exporter}(group)};`;
    const nothing = new Proxy(function () {}, {get: () => { throw new Error("no page"); }});
    const world = vm.createContext({console: {log() {}, warn() {}, error() {}}, document: nothing, TextDecoder, TextEncoder,
                                    performance, setTimeout, URL, Uint8Array, ArrayBuffer});
    world.window = world.self = world;
    try {
        vm.runInContext(text.replace(head, match => match + handed), world, {filename: path.basename(bundle)});
    } catch (error) {
        if (!world.handed)
            throw error;
    }
    return world.handed;
}

async function main(bundle, files) {
    const handed = load(bundle);
    const importer = handed.importer();
    for (const file of files) {
        const bytes = fs.readFileSync(file);
        const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
        const group = await importer.importProfilesFromArrayBuffer("same name", buffer);
        console.log(JSON.stringify(group ? handed.exporter(group) : null));
    }
}

main(process.argv[2], process.argv.slice(3)).catch(error => { console.error(error.stack); process.exit(1); });
