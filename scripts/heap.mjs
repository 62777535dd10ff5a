/*
 * V8's default heap limits grow with the machine's memory: on 24 GB the heap reaches 420 MB while 70 MB are in use.
 * These limits make V8 collect sooner; the old space is still ten times the memory in use. The same flags in
 * NODE_OPTIONS take precedence.
 */
const limits = ['--max-old-space-size=1024', '--max-semi-space-size=8']

/**
 * By default glibc creates one malloc arena per thread, and each keeps freed memory: 25 MB with twelve threads. Other C
 * libraries ignore the variable.
 */
export const heapEnvironment = { MALLOC_ARENA_MAX: '2' }

/** Without it, SIGUSR1 opens a debugger in a process that holds the seed (M27.9). */
export const privacyFlags = ['--disable-sigusr1']

/** @param {string | undefined} nodeOptions value of NODE_OPTIONS */
export function heapFlags(nodeOptions = '') {
  const normalized = nodeOptions.replaceAll('_', '-')
  return limits.filter((flag) => !normalized.includes(flag.slice(0, flag.indexOf('='))))
}
