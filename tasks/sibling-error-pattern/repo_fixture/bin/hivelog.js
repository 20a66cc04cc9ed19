#!/usr/bin/env node
import { main } from '../src/cli.js';

const io = {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`hivelog: ${line}\n`),
};

process.exitCode = await main(process.argv.slice(2), io);
