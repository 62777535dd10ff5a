/*
 * Loaded before the server (`node --import`). Blocks the event loop of the process at SIGUSR2. The threads go on.
 */
import { isMainThread } from 'node:worker_threads'

export const BLOCK_MS = 2_000

if (isMainThread)
  process.on('SIGUSR2', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCK_MS))
