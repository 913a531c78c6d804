// SPDX-License-Identifier: Apache-2.0
// read_chrome.mjs NODE_MODULES FILE - lets DevTools' trace engine parse trace events and prints {calls} as JSON.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, file] = process.argv.slice(2);
const home = path.join(path.resolve(modules), '@paulirish', 'trace_engine');
const facts = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'));
globalThis.self ??= globalThis;
const engine = await import(pathToFileURL(path.join(home, facts.main ?? 'models/trace/trace.js')));
const processor = engine.Processor.TraceProcessor.createWithAllHandlers();
await processor.parse(JSON.parse(readFileSync(file, 'utf8')).traceEvents, {});
let calls = 0;
for (const process of processor.data.Renderer.processes.values())
  for (const thread of process.threads.values()) calls += thread.entries.length;
console.log(JSON.stringify({ calls }));
