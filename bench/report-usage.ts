import { isMainThread } from 'node:worker_threads'
import { readUsage } from './usage.ts'

/*
 * Loaded before a process of the program: answers requests for memory and CPU time of all its threads, and ends it when the benchmarks
 * end, as the operator does.
 */
if (isMainThread) {
  process.on('message', () => process.send?.(readUsage()))
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}
