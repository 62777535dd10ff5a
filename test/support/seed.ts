import { execFileSync } from 'node:child_process'
import { isBuildServer } from './build-server.ts'

/**
 * The seed of all random choices of a test run; `TEST_SEED` repeats them. A build server takes it from the commit: each commit
 * tries other cases, and another run of a commit tries the same. Elsewhere each run has its own.
 */
export const seed: number = Number(process.env['TEST_SEED'] ?? (isBuildServer ? seedOfCommit() : randomSeed()))

/** The last seven digits of the commit's hash: 28 bits. */
function seedOfCommit(): number {
  return Number.parseInt(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim().slice(-7), 16)
}

function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 28)
}
